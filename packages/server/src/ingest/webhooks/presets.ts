// Providers whose events are well known: the header with their signature, and the meaning of their bodies.
import type { PresetName } from '@sensorium/contract'
import type { Compact, FullMapping } from '../mapping.ts'
import { compactGithub } from './compact-github.ts'
import { compactStripe } from './compact-stripe.ts'
import type { SignatureHeader } from './signature.ts'

export interface Preset {
  /** Accepted as well as our own header. */
  header: SignatureHeader
  mapping: FullMapping
  /** Reduces a body to what an agent needs. It is `compact` in the expression for the data. */
  compact: Compact
  /** The field that holds the JSON if the provider sends a form instead. */
  formField?: string
}

// `customer.subscription.created` is the action `created` of `customer.subscription`.
const STRIPE_ACTION = 'body.type.split(".")[size(body.type.split(".")) - 1]'

export const PRESET_MAPPINGS: Record<PresetName, Preset> = {
  // A header has the name of the event. `action` is present for events that have several (issues: opened, closed, …),
  // not for a push.
  github: {
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
    header: 'stripe-signature',
    mapping: {
      entity: `body.type.substring(0, size(body.type) - size(${STRIPE_ACTION}) - 1)`,
      action: STRIPE_ACTION,
      id: 'body.id',
      subject: 'body.data.object.object + "/" + body.data.object.id',
      data: 'compact',
    },
    compact: compactStripe,
  },
}

/** The presets by a name read from the store, which may be unknown. */
export const PRESETS: Readonly<Record<string, Preset | undefined>> = PRESET_MAPPINGS
