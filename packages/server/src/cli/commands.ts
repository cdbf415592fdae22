// Every command, in the order that help shows them.
import { adminKeyCreate } from './admin-key-create.ts'
import { backup } from './backup.ts'
import type { Command } from './command.ts'
import { doctor } from './doctor.ts'
import { restore } from './restore.ts'
import { tenantCreate } from './tenant-create.ts'
import { tenantList } from './tenant-list.ts'
import { usage } from './usage.ts'

export const commands: readonly Command[] = [tenantCreate, tenantList, adminKeyCreate, usage, doctor, backup, restore]
