import { userId } from '../../../../bench/world.ts'
import type { Actor } from '../../../../src/access/actor.ts'
import { actor, administrator } from '../../callers.ts'
import { member } from './member.ts'

/** Who is compared with the member. */
export const readers: readonly (readonly [string, Actor])[] = [
  ['the member', member],
  ['a user with few projects', actor(userId(77))],
  ['an administrator', administrator],
]
