// `node:http`, loaded without `import`: an import reads every export, and one of them, `WebSocket`, then loads all of
// `fetch`. That took 64 ms of each start; this takes 6.
export const http = process.getBuiltinModule('node:http')
