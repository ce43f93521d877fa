import { createHash } from 'node:crypto'

export const tiers = ['production', 'staging', 'testing', 'development', 'other'] as const
export type Tier = (typeof tiers)[number]

const tierNames: readonly (readonly [RegExp, Tier])[] = [
  [/dev|review|trunk/i, 'development'],
  [/test|tst|int|ac(ce|)pt|qa|qc|control|quality/i, 'testing'],
  [/st(a|)g|mod(e|)l|pre|demo|non/i, 'staging'],
  [/pr(o|)d|live/i, 'production'],
]

/** The tier that a name suggests, as GitLab guesses it. */
export const tierOf = (name: string): Tier => tierNames.find(([pattern]) => pattern.test(name))?.[1] ?? 'other'

const maxSlugLength = 24

/**
 * A name for hosts and labels: lower-case letters, digits and dashes, from a letter to a letter or digit. A name that is not such a slug
 * gets a suffix made from its digest, so that similar names have different slugs. Source: the algorithm of GitLab.
 */
export function slugOf(name: string): string {
  const letters = name.toLowerCase().replace(/[^a-z0-9]/g, '-')
  const slug = (/^[a-z]/.test(letters) ? letters : `env-${letters}`).replace(/-+/g, '-')
  if (slug === name && slug.length <= maxSlugLength && !slug.endsWith('-')) return slug
  const digest = createHash('sha256').update(name).digest('hex')
  const suffix = BigInt(`0x${digest}`).toString(36).slice(-6)
  const start = slug.slice(0, maxSlugLength - suffix.length - 1)
  return `${start}${start.endsWith('-') ? '' : '-'}${suffix}`
}
