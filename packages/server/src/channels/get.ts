// One channel as the caller sees it, with the caller's own role in it, or not found.
import { isId, type Channel } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { notFound, ruleBroken } from '../kernel/failure.ts'
import type { Db } from '../store/db.ts'
import { isChannelVisible, type ChannelCaller, type ChannelRefusal } from './rules.ts'
import { findChannel, findMember, lockChannel, shownChannel, type ChannelRow } from './sql.ts'

interface SeenChannel {
  channel: ChannelRow
  caller: ChannelCaller
}

async function see(db: Db, principal: Principal, id: string, find: typeof findChannel): Promise<SeenChannel> {
  const participant = { type: principal.kind, id: principal.id }
  const channel = isId('channel', id) ? await find(db, principal.tenantId, id) : undefined
  if (!channel) throw notFound('channel', id)
  // A separate query: one that waited for the channel's lock would still see the members from before the wait.
  const member = await findMember(db, principal.tenantId, id, participant)
  const caller: ChannelCaller = { ...participant, role: member?.role ?? null }
  if (!isChannelVisible(channel.type, caller)) throw notFound('channel', id)
  return { channel, caller }
}

export const requireChannel = (db: Db, principal: Principal, id: string): Promise<SeenChannel> =>
  see(db, principal, id, findChannel)

/** Returns the same, and locks the channel: no other transaction changes its members until this one ends. */
export const holdChannel = (tx: Db, principal: Principal, id: string): Promise<SeenChannel> =>
  see(tx, principal, id, lockChannel)

export const getChannel = async (db: Db, principal: Principal, id: string): Promise<Channel> =>
  shownChannel((await requireChannel(db, principal, id)).channel)

export async function maySeeChannel(db: Db, principal: Principal, id: string): Promise<boolean> {
  const channel = await findChannel(db, principal.tenantId, id)
  const member = await findMember(db, principal.tenantId, id, { type: principal.kind, id: principal.id })
  return (
    channel !== undefined &&
    isChannelVisible(channel.type, { type: principal.kind, id: principal.id, role: member?.role ?? null })
  )
}

/** Throws a refusal of the rules as an error of the catalogue. */
export function throwIfRefused(channel: ChannelRow, refusal: ChannelRefusal | null): void {
  if (refusal) throw ruleBroken(refusal.rule, refusal.message, { channel_id: channel.id })
}
