// Every view of the console with the plant, and how to tell that it has loaded, for axe and for the screenshots.
import type { Page } from 'playwright-core'
import type { PlantWithMemories } from './plant.ts'
import { memoryViews } from './views-memory.ts'

export interface View {
  /** The file name of its screenshots. */
  name: string
  /** The path below /console. */
  at: string
  ready(page: Page): Promise<unknown>
}

export const everyView = ({ agents, channels, memories }: PlantWithMemories): View[] => [
  {
    name: 'overview',
    at: '/',
    ready: async (page) => {
      await page.locator('.chart canvas').waitFor()
      await page.getByRole('row', { name: /Triage/ }).waitFor()
    },
  },
  { name: 'events', at: '/events', ready: (page) => page.getByText('live', { exact: true }).waitFor() },
  {
    name: 'event-search',
    at: '/events?view=search&type=com.plant.*',
    ready: (page) =>
      page
        .getByRole('row', { name: /com\.plant/ })
        .first()
        .waitFor(),
  },
  { name: 'event', at: '/events/advice-1', ready: (page) => page.getByText('What led to it').waitFor() },
  { name: 'publish', at: '/events?new=event', ready: (page) => page.getByRole('dialog').waitFor() },
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
  { name: 'channels', at: '/channels', ready: (page) => page.getByRole('row', { name: /Incidents/ }).waitFor() },
  {
    name: 'channel',
    at: `/channels/${channels.incidents.id}`,
    ready: async (page) => {
      await page.getByText('com.plant.power.lost').waitFor()
      await page.getByText('live', { exact: true }).waitFor()
    },
  },
  {
    name: 'dead-letters',
    at: '/dead-letters',
    ready: (page) =>
      page
        .getByRole('row', { name: /no rule for/ })
        .first()
        .waitFor(),
  },
  { name: 'audit', at: '/audit', ready: (page) => page.getByText(/\d+ entries/).waitFor() },
  ...memoryViews(memories),
]
