// Providers whose events are well known, and the form in which many others send theirs: the header with the signature,
// and the meaning of the bodies.
import type { PresetName } from '@sensorium/contract'
import type { Compact, FullMapping } from '../mapping.ts'
import { compactGithub } from './compact-github.ts'
import { compactStripe } from './compact-stripe.ts'
import type { SignatureHeader } from './signature.ts'

interface Preset {
  /** The name of the source unless another is given; a form of many providers has none. */
  source?: string
  /** Accepted as well as our own header. */
  header: SignatureHeader
  mapping: FullMapping
  /** Reduces a body to what an agent needs. It is `compact` in the expression for the data. */
  compact?: Compact
  /** The field that holds the JSON if the provider sends a form instead. */
  formField?: string
}

// `customer.subscription.created` is the action `created` of `customer.subscription`.
const LAST_OF_TYPE = 'body.type.split(".")[size(body.type.split(".")) - 1]'
const REST_OF_TYPE = `body.type.substring(0, size(body.type) - size(${LAST_OF_TYPE}) - 1)`

export const PRESET_MAPPINGS: Record<PresetName, Preset> = {
  // A header has the name of the event. `action` is present for events that have several (issues: opened, closed, …),
  // not for a push.
  github: {
    source: 'github',
    header: 'x-hub-signature-256',
    mapping: {
      entity: 'headers["x-github-event"]',
      action: 'has(body.action) ? body.action : "received"',
      id: 'headers["x-github-delivery"]',
      subject:
        'has(body.pull_request) ? body.repository.full_name + "/pull/" + string(body.pull_request.number)' +
        ' : has(body.issue) ? body.repository.full_name + "/issues/" + string(body.issue.number)' +
        ' : has(body.repository) ? body.repository.full_name : body.organization.login',
      data: 'compact',
    },
    compact: compactGithub,
    formField: 'payload',
  },
  stripe: {
    source: 'stripe',
    header: 'stripe-signature',
    mapping: {
      entity: REST_OF_TYPE,
      action: LAST_OF_TYPE,
      id: 'body.id',
      subject: 'body.data.object.object + "/" + body.data.object.id',
      data: 'compact',
    },
    compact: compactStripe,
  },
  // A body is `{"type": "invoice.paid", "timestamp": …, "data": {…}}`; the id of the message is in a header.
  standard: {
    header: 'webhook-signature',
    mapping: {
      entity: `body.type.contains(".") ? ${REST_OF_TYPE} : body.type`,
      action: `body.type.contains(".") ? ${LAST_OF_TYPE} : "received"`,
      id: 'headers[?"webhook-id"].orValue(headers["svix-id"])',
      subject: 'entity + "/" + string(body.data.id)',
      data: 'has(body.data) ? body.data : body',
    },
  },
}

/** The presets by a name read from the store, which may be unknown. */
export const PRESETS: Readonly<Record<string, Preset | undefined>> = PRESET_MAPPINGS
