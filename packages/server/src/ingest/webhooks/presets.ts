// Providers whose events are well known: which header they sign in, and what their bodies mean.
import type { PresetName } from '@sensorium/contract'
import type { Compact, FullMapping } from '../mapping.ts'
import { compactGithub } from './compact-github.ts'
import { compactStripe } from './compact-stripe.ts'
import type { SignatureHeader } from './signature.ts'

export interface Preset {
  /** Taken beside our own header. */
  header: SignatureHeader
  mapping: FullMapping
  /** What an agent needs of a body; `compact` in the expression for the data. */
  compact: Compact
  /** The field that has the JSON where the provider sends a form instead. */
  formField?: string
}

// `customer.subscription.created` is the action `created` of `customer.subscription`.
const STRIPE_ACTION = 'body.type.split(".")[size(body.type.split(".")) - 1]'

export const PRESET_MAPPINGS: Record<PresetName, Preset> = {
  // The event's name is a header; `action` is there for events that have several (issues: opened, closed, …), not for a
  // push.
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

/** By a name that comes from the store. */
export const PRESETS: Readonly<Record<string, Preset | undefined>> = PRESET_MAPPINGS
