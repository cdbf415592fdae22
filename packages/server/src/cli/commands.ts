// Every command, in the order that help shows them.
import { events } from './catalogue/events.ts'
import { memory } from './catalogue/memory.ts'
import { operator } from './catalogue/operator.ts'
import { service } from './catalogue/service.ts'
import { signIn } from './catalogue/sign-in.ts'
import { tenant } from './catalogue/tenant.ts'
import type { Command, Section } from './command.ts'

export const sections: readonly Section[] = [signIn, events, memory, tenant, operator, service]

export const commands: readonly Command[] = sections.flatMap((section) => section.commands)
