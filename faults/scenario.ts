// A way in which things break, again and again, while work goes on.
import type { EngineName, Site, SiteOptions } from './site.ts'
import type { Workload } from './workload.ts'

/** What the site needs, and how to get rid of it. */
export interface Prepared extends Partial<SiteOptions> {
  drop?(): Promise<void>
}

export interface Scenario {
  name: string
  engines: readonly EngineName[]
  /** How often it breaks in the long form and in the short one. */
  rounds: { long: number; short: number }
  /** What the site needs for it; a sentence instead where this machine cannot have it. */
  prepare?(): Promise<Prepared | string>
  /** Breaks something, and mends it. */
  breakOnce(site: Site, workload: Workload): Promise<void>
}

export const between = (least: number, most: number): number => least + Math.floor(Math.random() * (most - least + 1))
