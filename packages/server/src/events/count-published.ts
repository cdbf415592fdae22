// Counts what is published, whichever way it comes in.
import type { Activity } from '../activity/activity.ts'
import type { Publish, PublishOutcome } from './publish.ts'

export function countPublished(publish: Publish, activity: Activity): Publish {
  function count(tenantId: string, outcomes: PublishOutcome[]): PublishOutcome[] {
    let events = 0
    let deliveries = 0
    for (const outcome of outcomes) {
      if (outcome.status !== 'accepted') continue
      events++
      deliveries += outcome.recipients
    }
    activity.count(tenantId, 'events', events)
    activity.count(tenantId, 'deliveries', deliveries)
    return outcomes
  }
  return (submission) => publish(submission).then((outcomes) => count(submission.tenantId, outcomes))
}
