// Where a thread begins. JavaScript, and not a thread's own file: a thread does not inherit the cache of compiled code,
// and without it loads the compiler of TypeScript, which takes 17 MB for as long as it lives.
import module from 'node:module'

const [file, cache] = process.argv.slice(2)
if (cache) module.enableCompileCache(cache)
await import(file)
