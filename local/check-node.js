// Runs under any Node, so that an old one gets a sentence instead of a syntax error.
const needed = 24;
if (Number(process.versions.node.split('.')[0]) < needed) {
  console.error(
    `Countersign needs Node ${needed} or later; this is ${process.versions.node}. ` +
      `"npm ci" brings it on Linux x64; elsewhere install it (nvm: "nvm install" reads .nvmrc).`,
  );
  process.exit(1);
}
