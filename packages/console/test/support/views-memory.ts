// The views of memories, for axe and for the screenshots.
import type { PlantMemories } from './plant-memories.ts'
import type { View } from './views.ts'

export const memoryViews = (memories: PlantMemories): View[] => [
  {
    name: 'memories',
    at: '/memory',
    ready: (page) =>
      page
        .getByRole('row', { name: /Pump 8/ })
        .first()
        .waitFor(),
  },
  {
    name: 'memory-search',
    // Of one type only: axe examines each of fifty results for seconds, and they are all alike.
    at: '/memory?q=why%20do%20pumps%20get%20too%20hot&type=semantic',
    ready: (page) => page.getByLabel('Signals').first().waitFor(),
  },
  {
    name: 'memory',
    at: `/memory/${memories.changed}`,
    ready: (page) => page.getByRole('button', { name: 'Restore version 1' }).waitFor(),
  },
  {
    name: 'memory-graph',
    at: `/memory/graph?of=${memories.hall}&at=${memories.hall}`,
    ready: (page) => page.locator('.graph-canvas[data-settled="true"]').waitFor(),
  },
  {
    name: 'memory-graph-all',
    at: '/memory/graph',
    ready: async (page) => {
      await page.getByText('69 relationships').waitFor()
      await page.locator('.graph-canvas[data-settled="true"]').waitFor()
    },
  },
  {
    name: 'memory-transfer',
    at: '/memory?new=transfer',
    ready: (page) => page.getByRole('dialog', { name: 'Export and import' }).waitFor(),
  },
  { name: 'remember', at: '/memory?new=memory', ready: (page) => page.getByRole('dialog').waitFor() },
]
