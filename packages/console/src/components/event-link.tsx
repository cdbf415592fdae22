import { Link } from '@tanstack/react-router'
import { useSession } from '../session/session.ts'
import { Copyable } from './copy.tsx'

/**
 * Leads to an event that somebody else may have published. An event is read by its publisher and by admins alone, so
 * for others this is its id.
 */
export function EventLink({ id }: { id: string }) {
  const { can } = useSession()
  if (!can('admin')) return <Copyable text={id} label="Copy the id of the event" />
  return (
    <Link to="/events/$id" params={{ id }} className="link">
      <code>{id}</code>
    </Link>
  )
}
