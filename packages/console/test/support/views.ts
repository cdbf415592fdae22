// Every view of the console with the plant in it, and how one sees that it is there: for axe and for the screenshots.
import type { Page } from 'playwright-core'
import type { Plant } from './plant.ts'

export interface View {
  /** As the files of screenshots are called. */
  name: string
  /** Below /console. */
  at: string
  ready(page: Page): Promise<unknown>
}

export const everyView = ({ agents }: Plant): View[] => [
  { name: 'agents', at: '/agents', ready: (page) => page.getByRole('row', { name: /Triage/ }).waitFor() },
  {
    name: 'agent',
    at: `/agents/${agents.triage.id}`,
    ready: (page) => page.locator('.chart canvas').waitFor(),
  },
  {
    name: 'push-agent',
    at: `/agents/${agents.dispatch.id}`,
    ready: (page) => page.getByText('https://dispatch.example.com').waitFor(),
  },
  {
    name: 'register',
    at: '/agents?new=agent',
    ready: (page) => page.getByRole('dialog').waitFor(),
  },
]
