// On Node.js 22 and 24.0 node:sqlite says in every thread that it is experimental, also where PostgreSQL is the store.
// Who runs the service can do nothing about it, and would take it for a fault.
const { emitWarning } = process
process.emitWarning = (warning, ...rest) => {
  if (!String(warning).startsWith('SQLite is an experimental feature')) emitWarning.call(process, warning, ...rest)
}
