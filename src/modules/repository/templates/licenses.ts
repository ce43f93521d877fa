import { licenseOf } from '../../projects/index.ts'
import type { Template } from './kinds.ts'

/** Those that most choose. */
const popular: ReadonlySet<string> = new Set(['mit', 'apache-2.0', 'gpl-3.0'])

export const isPopular = ({ key }: Template): boolean => popular.has(key)

/** Whose licence it is, and of what. */
export type Licensee = { readonly project?: string | undefined; readonly fullname?: string | undefined }

/** What is known of a licence besides its text; of one that only an installation has, its name. */
export function factsOf(template: Template) {
  const known = licenseOf(template.key)
  const isKnown = known.key === template.key
  return {
    key: template.key,
    name: isKnown ? known.name : template.key,
    nickname: isKnown ? known.nickname : null,
    popular: isPopular(template),
    html_url: isKnown ? known.html_url : null,
    source_url: isKnown ? known.source_url : null,
  }
}

const places = {
  year: /[<{[](?:year|yyyy)[>}\]]/gi,
  project: /[<{[](?:project|description|one line [^>}\]]+)[>}\]]/gi,
  fullname: /[<{[](?:fullname|name\s+of\s+(?:author|copyright\s+owner))[>}\]]/gi,
}

/** The text with the year, and with what else is known, where it has places for that. */
export function filledIn(text: string, { project, fullname }: Licensee, now: Date): string {
  let filled = text.replace(places.year, () => String(now.getUTCFullYear()))
  if (project) filled = filled.replace(places.project, () => project)
  return fullname ? filled.replace(places.fullname, () => fullname) : filled
}
