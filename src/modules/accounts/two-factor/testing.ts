import { Secret, TOTP } from 'otpauth'
import { expect, vi } from 'vitest'
import type { Client, World } from '../../../../test/world.ts'

/** The code that an authenticator shows at a time in milliseconds. */
export const codeAt = (secret: string, atMs: number): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: atMs })

/** Password of all users in the tests. */
export const password = 'correct horse battery'

export type Device = {
  readonly secret: string
  readonly recoveryCodes: readonly string[]
  /** Codes of an authenticator application, each one step later than the last, within the accepted drift. */
  code(): string
}

/** Stops the clock of this process during `work`, so that a code is checked at the time for which it was generated. */
export async function atOneMoment<T>(work: (now: number) => Promise<T>): Promise<T> {
  const now = Date.now()
  const clock = vi.spyOn(Date, 'now').mockReturnValue(now)
  try {
    return await work(now)
  } finally {
    clock.mockRestore()
  }
}

/** Enables a second factor for a user. This uses up its first code. */
export async function withTwoFactor(_world: World, who: Client): Promise<Device> {
  const started = await who.post('/user/two_factor', { password })
  expect(started.status, started.text).toBe(201)
  const { secret } = started.json
  const confirmed = await atOneMoment((now) =>
    who.post('/user/two_factor/confirm', { code: codeAt(secret, now - 30_000) }),
  )
  expect(confirmed.status, confirmed.text).toBe(201)
  let ahead = -1
  return {
    secret,
    recoveryCodes: confirmed.json.recovery_codes,
    code: () => codeAt(secret, Date.now() + 30_000 * ++ahead),
  }
}
