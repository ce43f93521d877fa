import { requiredTextViolations } from '../../../kernel/violations.ts'
import { withoutEnds } from '../../../kernel/without-ends.ts'

/** Rules of names and paths. Source: supplement to the API documents, "Names and paths". */

const topLevelReserved = new Set(
  `- .well-known 404.html 422.html 500.html 502.html 503.html abuse_reports admin api apple-touch-icon-precomposed.png
  apple-touch-icon.png assets autocomplete ci dashboard deploy.html explore favicon.ico favicon.png files groups
  health_check help import invites jwt login notification_settings oauth openapi.json profile projects public robots.txt s
  search sent_notifications sitemap sitemap.xml sitemap.xml.gz slash-command-logo.png snippets u unsubscribes uploads users v2`.split(
    /\s+/,
  ),
)

const innerReserved = new Set(
  `- badges blame blob builds commits create create_dir edit environments/folders files find_file gitlab-lfs/objects
  info/lfs/objects new preview raw refs tree update wikis`.split(/\s+/),
)

const maximumLength = 255
const pathShape = /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/

const namespacePathText =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'."
const projectPathText =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'"
const groupNameText = "can contain only letters, digits, '_', '.', dash and space."
const projectNameText =
  "can contain only letters, digits, emojis, '_', '.', dash, space. It must start with letter, digit, emoji or '_'."

/**
 * In characters, which are bytes in a path. An index entry holds at most 2,700 bytes, and URLs have their own limits.
 */
const maxFullPathLength = 2000

export const fullPathViolations = (fullPath: string): string[] =>
  fullPath.length > maxFullPathLength
    ? [`makes the full path too long (maximum is ${maxFullPathLength} characters)`]
    : []

/** Errors in the path of a user or group; `inner` for a subgroup. */
export function namespacePathViolations(path: string, inner: boolean): string[] {
  const violations = requiredTextViolations(path, maximumLength)
  if (path !== '' && (!pathShape.test(path) || /(\.|\.git|\.atom)$/i.test(path))) violations.push(namespacePathText)
  if ((inner ? innerReserved : topLevelReserved).has(path.toLowerCase())) violations.push(`${path} is a reserved name`)
  return violations
}

export function projectPathViolations(path: string): string[] {
  const violations = requiredTextViolations(path, maximumLength)
  // File systems and URLs give `.` and `..` a meaning.
  if (path !== '' && (!pathShape.test(path) || /(\.git|\.atom)$/i.test(path) || /^\.\.?$/.test(path)))
    violations.push(projectPathText)
  if (innerReserved.has(path.toLowerCase())) violations.push(`${path} is a reserved name`)
  return violations
}

export function groupNameViolations(name: string): string[] {
  const violations = requiredTextViolations(name, maximumLength)
  if (name !== '' && !/^(?:[\p{L}\p{N}\p{M}_.\p{Pd} ()\p{Extended_Pictographic}]|\u200d)+$/u.test(name))
    violations.push(groupNameText)
  return violations
}

export function projectNameViolations(name: string): string[] {
  const violations = requiredTextViolations(name, maximumLength)
  if (
    name !== '' &&
    !/^[\p{L}\p{N}_\p{Extended_Pictographic}](?:[\p{L}\p{N}\p{M}_.\p{Pd} +\p{Extended_Pictographic}]|\u200d)*$/u.test(
      name,
    )
  )
    violations.push(projectNameText)
  return violations
}

/** Latin letters that Unicode does not decompose into a base letter. */
const latin: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
  ŋ: 'n',
  ŧ: 't',
}

/** Derives a path from a name: transliterated, lower case, other characters replaced by a dash. May be empty. */
export const pathFromName = (name: string): string =>
  withoutEnds(
    name
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .replace(/[^ -~]/gu, (letter) => latin[letter] ?? letter)
      .replace(/[^a-z0-9_]+/g, '-'),
    '-',
  )
