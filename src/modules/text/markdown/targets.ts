import type { MarkdownPlace } from '../../../api/markdown.ts'
import type { ReferenceKind, ReferenceTarget } from '../../../markdown/types.ts'
import { groupOfText } from '../../discussion/index.ts'

/** A target with the full path of its project in lower case; equal for equal targets of different texts. */
export type Target = {
  readonly kind: ReferenceKind
  /** That of the group for an epic. Undefined for users and groups, and where a text without a project does not name one. */
  readonly path: string | undefined
  readonly name: string
  readonly isTitle: boolean
}

/** The full path of the project, or for an epic of the group, that a reference in this place means. */
function pathOf(kind: ReferenceKind, path: string | undefined, place: MarkdownPlace): string | undefined {
  if (kind === '&') return path ?? (place.of === 'instance' ? undefined : groupOfText(place))
  if (path === undefined) return place.of === 'project' ? place.full_path : undefined
  if (path.includes('/') || place.of === 'instance') return path
  const around = place.of === 'group' ? place.full_path : place.full_path.slice(0, place.full_path.lastIndexOf('/'))
  return `${around}/${path}`
}

export const targetIn = (place: MarkdownPlace, { kind, path, name, quoted }: ReferenceTarget): Target => ({
  kind,
  path: kind === '@' ? undefined : pathOf(kind, path, place)?.toLowerCase(),
  name: kind === '@' ? name.toLowerCase() : name,
  isTitle: quoted === true || !/^\d{1,9}$/.test(name),
})

export const keyOf = ({ kind, path, name, isTitle }: Target): string => JSON.stringify([kind, path, name, isTitle])
