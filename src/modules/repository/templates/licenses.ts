import { licenseOf } from '../../projects/index.ts'
import type { Template } from './kinds.ts'

/** The most common licences. */
const popular: ReadonlySet<string> = new Set(['mit', 'apache-2.0', 'gpl-3.0'])

export const isPopular = ({ key }: Template): boolean => popular.has(key)

/** Project and owner for the text of a licence. */
export type Licensee = { readonly project?: string | undefined; readonly fullname?: string | undefined }

/** Facts about a licence; for a custom one only its name. */
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
  project: /[<{[](?:project|description|one line [^<{[>}\]]+)[>}\]]/gi,
  fullname: /[<{[](?:fullname|name\s+of\s+(?:author|copyright\s+owner))[>}\]]/gi,
}

/** Replaces the placeholders of year, project and owner in the text, as far as known. */
export function filledIn(text: string, { project, fullname }: Licensee, now: Date): string {
  let filled = text.replace(places.year, () => String(now.getUTCFullYear()))
  if (project) filled = filled.replace(places.project, () => project)
  return fullname ? filled.replace(places.fullname, () => fullname) : filled
}
