// Every command, in the order that help shows them.
import { adminKeyCreate } from './admin-key-create.ts'
import { adminKeyList } from './admin-key-list.ts'
import { adminKeyRevoke } from './admin-key-revoke.ts'
import { backup } from './backup.ts'
import type { Command } from './command.ts'
import { connectorCreate } from './connector-create.ts'
import { connectorDelete } from './connector-delete.ts'
import { connectorList } from './connector-list.ts'
import { connectorPause, connectorResume } from './connector-pause.ts'
import { doctor } from './doctor.ts'
import { mcp } from './mcp.ts'
import { reindex } from './reindex.ts'
import { restore } from './restore.ts'
import { tenantCreate } from './tenant-create.ts'
import { tenantList } from './tenant-list.ts'
import { tenantSet, tenantSettings } from './tenant-settings.ts'
import { usage } from './usage.ts'
import { webhookCreate } from './webhook-create.ts'
import { webhookDelete } from './webhook-delete.ts'
import { webhookList } from './webhook-list.ts'
import { webhookRotate } from './webhook-rotate.ts'

export const commands: readonly Command[] = [
  tenantCreate,
  tenantList,
  tenantSettings,
  tenantSet,
  adminKeyCreate,
  adminKeyList,
  adminKeyRevoke,
  webhookCreate,
  webhookList,
  webhookRotate,
  webhookDelete,
  connectorCreate,
  connectorList,
  connectorPause,
  connectorResume,
  connectorDelete,
  usage,
  doctor,
  backup,
  restore,
  reindex,
  mcp,
]
