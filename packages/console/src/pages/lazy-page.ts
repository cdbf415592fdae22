import { lazyRouteComponent } from '@tanstack/react-router'
import { loadCode } from '../components/load-code.ts'

/** Returns the component of a page, whose code is loaded when the page is first opened. */
export const lazyPage: typeof lazyRouteComponent = (load, name) => lazyRouteComponent(() => loadCode(load), name)
