// The pages, in the order of the navigation. A new page is a folder beside this file, with its two exports listed here.
import { agentRoutes, agentsPage } from './agents/page.tsx'
import { auditPage, auditRoutes } from './audit/page.tsx'
import { channelRoutes, channelsPage } from './channels/page.tsx'
import { deadLetterRoutes, deadLettersPage } from './dead-letters/page.tsx'
import { eventRoutes, eventsPage } from './events/page.tsx'
import { ingestionPage, ingestionRoutes } from './ingestion/page.tsx'
import { memoryPage, memoryRoutes } from './memory/page.tsx'
import { tenantRoutes, tenantsPage } from './operator/page.tsx'
import { overviewPage, overviewRoutes } from './overview/page.tsx'
import type { Page } from './page.ts'

export const pages: readonly Page[] = [
  overviewPage,
  eventsPage,
  agentsPage,
  channelsPage,
  deadLettersPage,
  memoryPage,
  auditPage,
  tenantsPage,
  ingestionPage,
]

/**
 * Returns the page that the path of a route belongs to. The start page is of every session: it leads agents and the
 * operator to their own.
 */
export const pageOf = (path: string): Page | undefined =>
  pages.find((page) => page !== overviewPage && (path === page.path || path.startsWith(`${page.path}/`)))

export const pageRoutes = [
  ...overviewRoutes,
  ...eventRoutes,
  ...agentRoutes,
  ...channelRoutes,
  ...deadLetterRoutes,
  ...memoryRoutes,
  ...auditRoutes,
  ...tenantRoutes,
  ...ingestionRoutes,
] as const
