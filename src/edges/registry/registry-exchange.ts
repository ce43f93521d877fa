import type { Ctx } from '../../api/ctx.ts'
import type { Place } from '../../modules/registry/index.ts'
import { type Exchange, type Headers, sendEmpty } from '../http/answer.ts'
import { versionHeader } from './errors.ts'

/** One request to a repository that the caller may use. */
export type RegistryExchange = {
  readonly exchange: Exchange
  readonly ctx: Ctx
  readonly place: Place
  /** Name of the repository. */
  readonly name: string
  readonly query: URLSearchParams
  /** The place of another repository if the token and the policy let the caller pull from it. */
  placeToPull(name: string): Promise<Place | undefined>
  /** Whether the caller may still pull from the repository of `placeToPull`. */
  mayStillPull(name: string, place: Place): Promise<boolean>
  /** Refuses the request unless the caller may still do this: its body may have taken long. Transactions of `ctx` ask it, too. */
  requireStill(): Promise<void>
  /** Whether the caller may push, too: what they find must stay. */
  readonly mayPush: boolean
}

/** Sends a response without a body. */
export const sendHeaders = (exchange: Exchange, status: number, headers: Headers = {}): void =>
  sendEmpty(exchange, status, { ...versionHeader, ...(status !== 204 && { 'content-length': 0 }), ...headers })
