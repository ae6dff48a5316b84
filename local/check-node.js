// Plain JavaScript, so that an older Node can run it and say what is missing instead of failing on the first `.ts`.
const [major] = process.versions.node.split('.').map(Number);
if (major < 24) {
  console.error(
    `Countersign needs Node 24; this is ${process.version}. On Linux x64 "npm ci" brings it; elsewhere install Node 24 and try again.`,
  );
  process.exit(1);
}
