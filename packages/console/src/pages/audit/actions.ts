// The operations that write an audit entry, by their names in the API. A test compares them with the contract.
export const AUDITED = [
  'activateAgent',
  'addMember',
  'createAdminKey',
  'createChannel',
  'createConnector',
  'createFeed',
  'createInterest',
  'createPushSecret',
  'createTenant',
  'createWebhook',
  'deactivateAgent',
  'deleteChannel',
  'deleteConnector',
  'deleteFeed',
  'deleteInterest',
  'deleteWebhook',
  'discardDeadLetters',
  'mintKey',
  'pauseAgent',
  'pauseConnector',
  'putAgent',
  'putChannel',
  'registerAgent',
  'removeMember',
  'replayDeadLetter',
  'replayDeadLetters',
  'resumeAgent',
  'resumeConnector',
  'revokeAdminKey',
  'revokeKey',
  'rotateWebhook',
  'updateAgent',
  'updateTenantSettings',
] as const

/** Returns `Update agent` for `updateAgent`. */
export function titleOfAction(action: string): string {
  const words = action.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}
