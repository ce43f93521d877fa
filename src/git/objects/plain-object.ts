import { isUtf8 } from 'node:buffer'
import { nullOid, type Oid, oidBytes } from '../format/oid.ts'
import { type NewObject, treeOrderKey } from './objects.ts'

/*
 * Which objects git's checks (`fsck --strict`) accept beyond doubt. These checks follow the security fixes of git, so what is unusual in any
 * way is left to them: names that some file systems read as `.git`, files with a meaning for git, modes of old histories, odd headers.
 */

/** Larger ones, of thousands of parents or files, would take long to check. In bytes. */
const maxBytes = { commit: 64 * 1024, tag: 64 * 1024, tree: 128 * 1024 }

/** Whether git accepts the object whatever else it checks. `isNew` tells whether the push has an object of this id. */
export function isPlain({ type, content }: NewObject, isNew: (oid: Oid) => boolean): boolean {
  if (type === 'blob') return true
  if (content.length > maxBytes[type]) return false
  return type === 'tree' ? isPlainTree(content, isNew) : plainTexts[type].test(content.toString('latin1'))
}

const person = String.raw`[^\0\n<> ][^\0\n<>]* <[^\0\n<> ]*> (?:0|[1-9]\d{0,9}) [+-]\d{4}`
const signature = String.raw`gpgsig [^\0\n]*\n(?: [^\0\n]*\n)*`

const plainTexts = {
  commit: new RegExp(
    String.raw`^tree [0-9a-f]{40}\n(?:parent [0-9a-f]{40}\n)*author ${person}\ncommitter ${person}\n(?:encoding [\w-]+\n)?(?:${signature})?\n[^\0]*$`,
  ),
  tag: new RegExp(
    String.raw`^object [0-9a-f]{40}\ntype (?:commit|tag)\ntag [0-9A-Za-z](?:[._+-]?[0-9A-Za-z])*\ntagger ${person}\n\n[^\0]*$`,
  ),
}

/** Entries that are in order, each name once. */
function isPlainTree(content: Buffer, isNew: (oid: Oid) => boolean): boolean {
  const names = new Set<string>()
  let before: Buffer | undefined
  for (let at = 0; at < content.length; ) {
    const end = content.indexOf(0, at)
    const space = content.indexOf(0x20, at)
    if (end < 0 || end + 1 + oidBytes > content.length || space < 0 || space > end) return false
    const mode = content.toString('latin1', at, space)
    const bytes = content.subarray(space + 1, end)
    const oid = content.toString('hex', end + 1, end + 1 + oidBytes) as Oid
    if (oid === nullOid || !isUtf8(bytes)) return false
    const name = bytes.toString('utf8')
    const key = treeOrderKey({ mode, name })
    if (names.has(name) || (before && Buffer.compare(before, key) >= 0)) return false
    if (!modes.has(mode) || !isPlainName(name, mode, () => isNew(oid))) return false
    names.add(name)
    before = key
    at = end + 1 + oidBytes
  }
  return true
}

const symbolicLink = '120000'
const modes: ReadonlySet<string> = new Set(['100644', '100755', symbolicLink, '40000', '160000'])

const maxNameBytes = 255

/** Separators and streams of Windows, short names, control characters, and characters that HFS+ ignores. */
const unusual = /[\u0000-\u001f/\\:\u007f\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]|~\d|^\.{0,2}$/

/** Names that begin like the folder of git, and have no meaning for it. */
const known: ReadonlySet<string> = new Set(['.gitignore', '.gitkeep', '.github', '.gitlab', '.gitlab-ci.yml', '.gitea'])

/** Files whose content git checks, when it is pushed. */
const checked: ReadonlySet<string> = new Set(['.gitattributes', '.gitmodules'])

function isPlainName(name: string, mode: string, isNew: () => boolean): boolean {
  if (unusual.test(name) || name.length > maxNameBytes) return false
  if (mode === symbolicLink) return !name.startsWith('.') && !isNew()
  if (!/^\.git/i.test(name) || known.has(name)) return true
  return checked.has(name) && mode.startsWith('100') && !isNew()
}
