import type { DeadLetterItem } from './work-through.ts'
import { useMemo } from 'react'
import { usePrincipalName } from '../../api/agent-names.ts'
import type { Column } from '../../components/column.ts'
import { Time } from '../../components/time.tsx'

export function useColumns(
  shown: readonly DeadLetterItem[],
  ofEveryAgent: boolean,
  picked: ReadonlySet<string>,
  toggle: (id: string) => void,
): readonly Column<DeadLetterItem>[] {
  const nameOf = usePrincipalName(shown.map(({ agent_id }) => agent_id))
  return useMemo(() => {
    const columns: Column<DeadLetterItem>[] = [
      {
        name: 'Select',
        width: '48px',
        cell: ({ id, event_id }) => (
          <input
            type="checkbox"
            // Not in the order of Tab: `x` selects the row that has the focus.
            tabIndex={-1}
            aria-label={`Select ${event_id}`}
            checked={picked.has(id)}
            onChange={() => toggle(id)}
            onClick={(event) => event.stopPropagation()}
          />
        ),
      },
      { name: 'Type', width: 'minmax(0, 1.3fr)', cell: ({ payload }) => <code>{String(payload['type'])}</code> },
      {
        name: 'Reason',
        width: 'minmax(0, 1.7fr)',
        cell: ({ dlq_reason }) => <span title={dlq_reason}>{dlq_reason}</span>,
      },
      {
        name: 'Agent',
        width: 'minmax(0, 0.8fr)',
        wideOnly: true,
        cell: ({ agent_id }) => nameOf(agent_id),
      },
      {
        name: 'Attempts',
        width: '64px',
        right: true,
        wideOnly: true,
        cell: ({ attempt_count }) => attempt_count.toLocaleString(),
      },
      {
        name: 'Given up on',
        width: '96px',
        right: true,
        wideOnly: true,
        cell: ({ dead_lettered_at }) => <Time at={dead_lettered_at} />,
      },
    ]
    return columns.filter(({ name }) => ofEveryAgent || name !== 'Agent')
  }, [nameOf, ofEveryAgent, picked, toggle])
}
