/** Shows what an interest or a feed subscribes to: a pattern over event types, and its filter below. */
export function Subscription({ type, filter }: { type: string; filter: string | null }) {
  return (
    <div className="grow stack tight">
      <code className="cut">{type}</code>
      {filter === null ? null : <code className="quiet small wraps">{filter}</code>}
    </div>
  )
}
