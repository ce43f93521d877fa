import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import type { TwoFactorRow } from './queries.ts'

export const TwoFactor = entity({
  name: 'TwoFactor',
  schema: Type.Object({
    enabled: Type.Boolean({ description: 'True if sign-in requires a second factor' }),
    enabled_at: nullable(timestamp(), { description: 'Time at which it was enabled; null if it is not' }),
    recovery_codes_left: Type.Integer({ description: 'Number of recovery codes that were not used' }),
  }),
  present: (row: Pick<TwoFactorRow, 'confirmed_at' | 'recovery_codes_left'>) => ({
    enabled: row.confirmed_at !== null,
    enabled_at: row.confirmed_at,
    recovery_codes_left: row.recovery_codes_left,
  }),
})

/** Shown this once. */
export const TwoFactorSecret = entity({
  name: 'TwoFactorSecret',
  schema: Type.Object({
    secret: Type.String({ description: 'Base32 secret for manual entry' }),
    uri: Type.String({ description: '`otpauth://totp/…` URI for a QR code' }),
  }),
  present: (row: { secret: string; uri: string }) => row,
})

/** Shown this once. */
export const RecoveryCodes = entity({
  name: 'RecoveryCodes',
  schema: Type.Object({
    recovery_codes: Type.Array(Type.String({ description: 'Recovery code for one use' }), {
      description: 'New recovery codes; earlier codes are no longer valid',
    }),
  }),
  present: (recovery_codes: readonly string[]) => ({ recovery_codes: [...recovery_codes] }),
})
