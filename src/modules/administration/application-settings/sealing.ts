import type { Tx } from '../../../db/db.ts'
import type { Secrets } from '../../../kernel/secrets.ts'
import { lockSettings } from '../../../settings/queries.ts'
import { declared, defaults, type Settings } from '../../../settings/settings.ts'
import { saveSettings } from '../../../settings/store.ts'

const secretNames = declared.filter(([, { secret }]) => secret !== undefined).map(([name]) => name)

const purposeOf = (name: string): string => `setting ${name}`

/** Replaces the secrets among the settings by the result of `change`. */
function mapSecrets<T extends object>(settings: T, change: (text: string, name: string) => string): T {
  const changed = { ...settings } as Record<string, unknown>
  for (const name of secretNames) {
    const value = changed[name]
    if (typeof value === 'string') changed[name] = value === defaults[name] ? value : change(value, name)
  }
  return changed as T
}

/** Settings with decrypted secrets, for the one request that needs them. */
export const openSettings = <T extends object>(secrets: Secrets, settings: T): T =>
  mapSecrets(settings, (text, name) => secrets.open(text, purposeOf(name)))

/** Settings with encrypted secrets, as they are stored. */
export const sealSettings = <T extends object>(secrets: Secrets, settings: T): T =>
  mapSecrets(settings, (text, name) => secrets.seal(text, purposeOf(name)))

export const isSecret = (name: string): boolean => (secretNames as readonly string[]).includes(name)

/** Encrypts the secrets among the stored settings with the current key. Returns their number. */
export async function resealSettings(tx: Tx, secrets: Secrets): Promise<number> {
  const { values: stored } = await lockSettings(tx)
  let replaced = 0
  const resealed = mapSecrets(stored, (sealed, name) => {
    const next = secrets.reseal(sealed, purposeOf(name))
    if (next !== sealed) replaced++
    return next
  })
  const names = secretNames.filter((name) => name in resealed)
  await saveSettings(tx, Object.fromEntries(names.map((name) => [name, resealed[name]])) as Partial<Settings>)
  return replaced
}
