/** What every browser asks for beside a page. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 8l4 4 8-9" fill="none" stroke="#0b7a4b" stroke-width="3"/></svg>`;

/** The one stylesheet. A string, so that it travels inside the function's bundle. */
export const style = `
:root { color-scheme: light dark; --edge: light-dark(#6b6b6b, #9a9a9a); --soft: light-dark(#f1f1ee, #242424); --link: light-dark(#0b4f9e, #8cbcf5); }
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.45 system-ui, sans-serif; overflow-wrap: anywhere; color: light-dark(#161616, #eee); background: light-dark(#fff, #151515); }
header, main { max-width: 46rem; margin: 0 auto; padding: 0.75rem 1rem; }
header { display: flex; gap: 1rem; align-items: center; justify-content: space-between; border-bottom: 1px solid var(--edge); }
a { color: var(--link); }
h1 { font-size: 1.5rem; line-height: 1.2; margin: 1rem 0 0.5rem; }
h2 { font-size: 1.15rem; margin: 1.5rem 0 0.5rem; }
.value, pre, textarea.code { font-family: ui-monospace, monospace; }
.value, .words, bdi { unicode-bidi: isolate; white-space: pre-wrap; overflow-wrap: anywhere; }
mark { display: inline-block; max-width: 100%; line-height: 1.2; color: light-dark(#161616, #eee); background: light-dark(#ffe28a, #6b5300); border: 1px solid var(--edge); border-radius: 0.2rem; padding: 0 0.15rem; }
.notice { border-left: 0.35rem solid var(--edge); background: var(--soft); padding: 0.6rem 0.8rem; margin: 0.75rem 0; }
.notice p { margin: 0.2rem 0; }
dl.arguments { border: 1px solid var(--edge); margin: 0.5rem 0; }
dl.arguments > div { padding: 0.5rem 0.75rem; border-top: 1px solid var(--edge); }
dl.arguments > div:first-child { border-top: 0; }
dt { font-size: 0.9rem; }
dd { margin: 0; }
.type { opacity: 0.8; margin-left: 0.5rem; }
details { border: 1px dashed var(--edge); padding: 0.5rem 0.75rem; margin: 0.75rem 0; }
summary { cursor: pointer; min-height: 1.75rem; }
textarea { width: 100%; min-height: 5rem; font: inherit; padding: 0.5rem; color: inherit; background: transparent; border: 1px solid var(--edge); }
textarea.code { min-height: 14rem; }
label { display: block; margin: 0.75rem 0 0.25rem; }
button { font: inherit; min-height: 2.75rem; padding: 0.4rem 1.1rem; margin: 0.5rem 0.5rem 0 0; color: inherit; background: var(--soft); border: 2px solid var(--edge); border-radius: 0.3rem; cursor: pointer; }
header > span { min-width: 0; text-align: right; flex: 1; } header form { margin: 0; } header button { margin: 0; }
ul.inbox { list-style: none; padding: 0; }
ul.inbox li { border-top: 1px solid var(--edge); }
ul.inbox a { display: block; padding: 0.75rem 0; color: inherit; text-decoration: none; }
ul.inbox span { display: block; }
ul.inbox .name { color: var(--link); text-decoration: underline; font-size: 1.1rem; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
`;
