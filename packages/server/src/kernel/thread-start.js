// The entry point of a thread. It is JavaScript, and not the thread's own file: a thread does not inherit the cache of
// compiled code, and without the cache it loads the TypeScript compiler, which takes 17 MB for as long as it lives.
import module from 'node:module'
import './no-sqlite-warning.js'

const [file, cache] = process.argv.slice(2)
if (cache) module.enableCompileCache(cache)
await import(file)
