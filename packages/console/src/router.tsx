// Every view has an address, and every filter is in it: `?status=active`, as plain text.
import { createRouter, parseSearchWith, stringifySearchWith } from '@tanstack/react-router'
import { followVisits } from './components/visited.ts'
import { pageRoutes } from './pages/index.ts'
import { rootRoute } from './root-route.ts'
import { Shell } from './shell/shell.tsx'
import { NotFound, PageFailed } from './shell/page-failed.tsx'
import { PagePending } from './shell/page-pending.tsx'

rootRoute.update({ component: Shell, notFoundComponent: NotFound, errorComponent: PageFailed } as never)

export function makeRouter() {
  const router = createRouter({
    routeTree: rootRoute.addChildren(pageRoutes),
    basepath: '/console',
    parseSearch: parseSearchWith((text) => text),
    stringifySearch: stringifySearchWith(String),
    defaultPreload: 'intent',
    // The page of another agent or tenant starts anew: it keeps no open dialog, and no secret that was shown in one.
    defaultRemountDeps: ({ params }) => params,
    // Of every page, so that one that fails leaves the shell in place.
    defaultErrorComponent: PageFailed,
    // Most pages are there sooner, and a flicker would be worse than the previous page.
    defaultPendingComponent: PagePending,
    defaultPendingMs: 300,
    defaultPendingMinMs: 0,
    // What scrolls is a list inside the page, which keeps its place itself (components/scroll-place.ts).
    scrollRestoration: false,
  })
  followVisits(router.history)
  return router
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>
  }
}
