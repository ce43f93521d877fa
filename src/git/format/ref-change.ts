import { type Oid, parseOid } from './oid.ts'
import { parseRefName, type RefName } from './ref-name.ts'

/** The update of one ref in a push. `from: null` creates the ref; `to: null` deletes it. */
export type RefChange = { readonly name: RefName; readonly from: Oid | null; readonly to: Oid | null }

/** Parses `<old> <new> <ref>`, the format of hook input; `undefined` if the ref name is invalid. */
export function parseUpdate(line: string): RefChange | undefined {
  const [from = '', to = '', ...rest] = line.split(' ')
  const name = parseRefName(rest.join(' '))
  return name && { name, from: parseOid(from) ?? null, to: parseOid(to) ?? null }
}
