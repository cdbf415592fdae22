// Counts published events and their deliveries, whichever way the events come in.
import type { Activity } from '../activity/activity.ts'
import type { EventTypes } from '../activity/event-types.ts'
import type { Publish } from './publish.ts'
import type { PublishOutcome, Submission } from './submission.ts'

export function countPublished(publish: Publish, activity: Activity, types: EventTypes): Publish {
  function count({ tenantId, events: given }: Submission, outcomes: PublishOutcome[]): PublishOutcome[] {
    let events = 0
    let deliveries = 0
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.status !== 'accepted') continue
      types.count(tenantId, given[i]!.type)
      events++
      deliveries += outcome.recipients
    }
    activity.count(tenantId, 'events', events)
    activity.count(tenantId, 'deliveries', deliveries)
    return outcomes
  }
  return (submission) => publish(submission).then((outcomes) => count(submission, outcomes))
}
