import { userId } from '../../bench/world.ts'
import type { Actor, Caller } from '../../src/access/actor.ts'

export const actor = (id: number): Actor => ({ id, admin: false, external: false }) as Actor
export const administrator: Actor = { ...actor(1), admin: true }

export const callers: readonly (readonly [string, Caller])[] = [
  ['an anonymous caller', null],
  ['a user with few projects', actor(userId(77))],
  ['another member of groups', actor(userId(313))],
  ['an administrator', administrator],
]
/** Those who signed in. */
export const signedIn = callers.slice(1) as [string, Actor][]
