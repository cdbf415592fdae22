// The audit log as a table. Every filter is in the address, and an entry opens beside the table.
import { useCallback, useMemo } from 'react'
import { usePrincipalName } from '../../api/agent-names.ts'
import type { Opened } from '../../api/opened.ts'
import type { Rows } from '../../api/rows.ts'
import type { Column } from '../../components/column.ts'
import { counted } from '../../components/counted.ts'
import { ListTable } from '../../components/list-table.tsx'
import { Opening } from '../../components/opening.tsx'
import { PageFrame } from '../../components/page.tsx'
import { Empty } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import { titleOfAction } from './actions.ts'
import './audit.css'
import { EntryDrawer } from './entry.tsx'
import { AuditFilters } from './filters.tsx'
import type { AuditEntry, AuditSearch } from './query.ts'

interface AuditLogProps {
  list: Rows<AuditEntry>
  opened: Opened<AuditEntry>
  search: AuditSearch
  onSearch(change: AuditSearch): void
  /** The tenant, when the operator is viewing. */
  of?: string
}

/** Returns how an actor is called: the operator, or one who acts in the tenant. */
function useActorName(shown: readonly (string | null)[]): (actor: string) => string {
  const { kind } = useSession()
  const nameOf = usePrincipalName(shown, kind !== 'operator')
  return useCallback((actor) => (actor === 'operator' ? 'Operator' : nameOf(actor)), [nameOf])
}

/** Returns the details of an entry besides actor and action: the fields of the request in one line. */
function gistOf({ details, resource }: AuditEntry): string {
  return Object.entries(details)
    .filter(([name, value]) => name !== 'actor_key_id' && value !== resource)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}

export function AuditLog({ list, opened, search, onSearch, of }: AuditLogProps) {
  const entry = opened.item
  const nameOf = useActorName([
    entry?.actor ?? null,
    search.actor ?? null,
    ...list.rows.flatMap(({ actor, resource }) => [actor, resource]),
  ])
  const columns = useMemo(
    (): readonly Column<AuditEntry>[] => [
      { name: 'When', width: '84px', cell: ({ at }) => <Time at={at} /> },
      { name: 'Who', width: 'minmax(96px, 0.8fr)', cell: ({ actor }) => <strong>{nameOf(actor)}</strong> },
      { name: 'Did', width: 'minmax(0, 1fr)', cell: ({ action }) => titleOfAction(action) },
      {
        name: 'To',
        width: 'minmax(0, 1.2fr)',
        wideOnly: true,
        cell: ({ resource }) => <code className="quiet">{resource === null ? '' : nameOf(resource)}</code>,
      },
      {
        name: 'With',
        width: 'minmax(0, 1.6fr)',
        wideOnly: true,
        cell: (entry) => <span className="faint">{gistOf(entry)}</span>,
      },
    ],
    [nameOf],
  )
  const isFiltered = [search.actor, search.action, search.since, search.until].some((text) => text)
  return (
    <PageFrame
      title={of === undefined ? 'Audit' : `Audit of ${of}`}
      full
      {...(of === undefined ? {} : { back: { to: `/tenants/${of}`, label: 'the tenant' } })}
    >
      <AuditFilters search={search} entries={list.rows} nameOf={nameOf} onSearch={onSearch} />
      <ListTable
        label="Audit"
        list={list}
        columns={columns}
        onOpen={({ id }) => onSearch({ open: id })}
        foot={
          <span className="number" role="status">
            {counted(list.total, 'entry', 'entries')}
            {isFiltered ? (list.total === 1 ? ' fits' : ' fit') : ''}
          </span>
        }
        empty={
          isFiltered ? (
            <Empty title="No entry fits this filter" />
          ) : (
            <Empty title="Nothing was changed yet">
              Changes of agents, keys, interests, channels, dead letters, settings, webhooks and connectors leave an
              entry here. What agents publish, receive and remember does not.
            </Empty>
          )
        }
      />
      {!search.open || list.isPending ? null : entry === undefined ? (
        <Opening of={opened} noun="entry" onClose={() => onSearch({ open: '' })} />
      ) : (
        <EntryDrawer
          entry={entry}
          actor={nameOf(entry.actor)}
          onActor={() => onSearch({ actor: entry.actor, open: '' })}
          onClose={() => onSearch({ open: '' })}
        />
      )}
    </PageFrame>
  )
}
