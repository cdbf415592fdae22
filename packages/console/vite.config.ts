import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // What `light-dark()` and nesting need; with them the styles are sent as they are written.
    target: ['chrome123', 'firefox124', 'safari17.5'],
    // The policy forbids inline images, so none is made.
    assetsInlineLimit: 0,
    // One file of styles. A page that is loaded at a second attempt would come without its own: Vite asks for them
    // once.
    cssCodeSplit: false,
    // The licences of what is bundled, beside it.
    license: { fileName: 'licences.md' },
    modulePreload: {
      polyfill: false,
      // Only for the first page. A file that a later part imports and that was asked for ahead in vain would be lost to
      // the next attempt too: see load-code.ts.
      resolveDependencies: (_file, files, { hostType }) => (hostType === 'html' ? files : []),
    },
    reportCompressedSize: false,
  },
  worker: { format: 'es' },
  server: {
    // `npm run dev` beside a service on its usual port.
    proxy: { '^/(v1|operator|openapi.json)': 'http://localhost:8080' },
  },
})
