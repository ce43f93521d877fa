import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { notify } from '../../../db/notifications.ts'
import { emit } from '../../../events/log.ts'
import { forbidden, notFound } from '../../../kernel/failure.ts'
import { keepAnAdministrator } from './last-administrator.ts'
import type { UserRow } from './queries.ts'
import { isRecentlyActive, lockState, moveState } from './state-queries.ts'
import { refuseGhost } from './subject.ts'

type State = UserRow['state']

type StateEvent =
  | 'user_blocked'
  | 'user_unblocked'
  | 'user_deactivated'
  | 'user_activated'
  | 'user_banned'
  | 'user_unbanned'

type Transition = {
  readonly to: State
  readonly event: StateEvent
  /** Error messages by state; absent states may change. */
  readonly refuses: Readonly<Partial<Record<State, string>>>
  /** States in which the account stays unchanged and the result is `false`. */
  readonly ignores?: readonly State[]
  /** Error message if users do this to themselves; `undefined` if they may. */
  readonly ownRefused?: string
  /** A further condition, which returns an error message. */
  readonly unless?: (tx: Tx, userId: number) => Promise<string | undefined>
}

/** Minimum days without activity before an account may be deactivated. */
const inactiveDays = 180

const notFrom = (what: string, states: readonly State[]): Partial<Record<State, string>> =>
  Object.fromEntries(states.map((state) => [state, `You cannot ${what} ${state} users.`]))

/** State changes by administrators. Moving to the current state changes nothing. */
const transitions = {
  block: {
    to: 'blocked',
    event: 'user_blocked',
    refuses: { ldap_blocked: 'LDAP blocked users cannot be modified by the API' },
    ignores: ['blocked', 'banned'],
    ownRefused: 'The API initiating user cannot be blocked by the API',
  },
  unblock: {
    to: 'active',
    event: 'user_unblocked',
    refuses: {
      ldap_blocked: 'LDAP blocked users cannot be unblocked by the API',
      deactivated: 'Deactivated users cannot be unblocked by the API',
    },
    ignores: ['active', 'banned'],
  },
  deactivate: {
    to: 'deactivated',
    event: 'user_deactivated',
    refuses: {
      blocked: 'A blocked user cannot be deactivated by the API',
      banned: 'A blocked user cannot be deactivated by the API',
      ldap_blocked: 'LDAP blocked users cannot be modified by the API',
    },
    unless: async (tx, userId) =>
      (await isRecentlyActive(tx, userId, inactiveDays))
        ? `The user you are trying to deactivate has been active in the past ${inactiveDays} days and cannot be deactivated`
        : undefined,
  },
  activate: {
    to: 'active',
    event: 'user_activated',
    refuses: {
      blocked: 'A blocked user must be unblocked to be activated',
      banned: 'A blocked user must be unblocked to be activated',
      ldap_blocked: 'LDAP blocked users cannot be modified by the API',
    },
  },
  ban: {
    to: 'banned',
    event: 'user_banned',
    refuses: notFrom('ban', ['blocked', 'ldap_blocked', 'deactivated', 'banned']),
    ownRefused: 'The API initiating user cannot be banned by the API',
  },
  unban: {
    to: 'active',
    event: 'user_unbanned',
    refuses: notFrom('unban', ['active', 'blocked', 'ldap_blocked', 'deactivated']),
  },
} as const satisfies Record<string, Transition>

export type TransitionName = keyof typeof transitions

/**
 * Changes the state of an account, for an administrator or, without an actor, for the operator; every transport applies it within a second. Returns true, also if the state was the
 * same, and false if the transition ignores the current state.
 */
export async function changeState(ctx: Ctx, userId: number, name: TransitionName): Promise<boolean> {
  const { to, event, refuses, ignores, ownRefused, unless }: Transition = transitions[name]
  return ctx.transaction(async (tx) => {
    const held = await lockState(tx, userId)
    if (!held) throw notFound('User')
    // An administrator who was blocked meanwhile must not unblock themselves.
    await tx.requirePermission?.()
    refuseGhost(held)
    if (held.leaving) throw forbidden('This user is being removed')
    const refused = refuses[held.state]
    if (refused !== undefined) throw forbidden(refused)
    if (ownRefused !== undefined && userId === ctx.actor?.id) throw forbidden(ownRefused)
    if (ignores?.includes(held.state)) return false
    if (held.state === to) return true
    const circumstance = await unless?.(tx, userId)
    if (circumstance !== undefined) throw forbidden(circumstance)
    await moveState(tx, userId, [held.state], to)
    if (to !== 'active') await keepAnAdministrator(tx, held)
    await emit(tx, { kind: event, actorId: ctx.actor?.id ?? null, payload: { user_id: userId, from: held.state } })
    await notify(tx, 'actors')
    return true
  })
}
