import type { Settings } from '../../../settings/settings.ts'
import type { KeyType, PublicKey } from './public-key.ts'

const types: readonly KeyType[] = ['rsa', 'dsa', 'ecdsa', 'ed25519']
const forbidden = -1
/** Minimum of OpenSSH, which refuses weaker keys. */
const minBits: Partial<Record<KeyType, number>> = { rsa: 1024, dsa: 1024 }

/** Errors of a key whose type or size the settings forbid. */
export function restrictionViolations({ type, bits }: PublicKey, settings: Settings): string[] {
  const restriction = settings[`${type}_key_restriction`]
  if (restriction === forbidden) return [`type is forbidden. Must be ${allowedTypes(settings)}`]
  const minimum = Math.max(restriction, minBits[type] ?? 0)
  return bits < minimum ? [`must be at least ${minimum} bits`] : []
}

/** `RSA, DSA, ECDSA, or ED25519` */
function allowedTypes(settings: Settings): string {
  const allowed = types.filter((type) => settings[`${type}_key_restriction`] !== forbidden)
  const words = allowed.map((type) => type.toUpperCase())
  return words.length < 3 ? words.join(' or ') : `${words.slice(0, -1).join(', ')}, or ${words.at(-1)}`
}
