/** Values of an option that may be repeated, each with the number of times it was sent. */
export type Repeated = Readonly<Record<string, number>>

/** The options of a push (`git push -o`) as webhooks show them. Source: supplement to the API documents, "Push options". */
export type PushOptions = {
  readonly ci?: {
    readonly skip?: boolean
    readonly variable?: Repeated
  }
  readonly merge_request?: {
    readonly create?: boolean
    readonly target?: string
    readonly target_project?: string
    readonly title?: string
    readonly description?: string
    readonly draft?: boolean
    readonly remove_source_branch?: boolean
    readonly merge_when_pipeline_succeeds?: boolean
    readonly milestone?: string
    readonly label?: Repeated
    readonly unlabel?: Repeated
    readonly assign?: Repeated
    readonly unassign?: Repeated
  }
}

export type ParsedPushOptions = {
  readonly options: PushOptions
  /** The valid options as they were sent. */
  readonly valid: readonly string[]
  /** A sentence about each option without effect. */
  readonly warnings: readonly string[]
}

type Kind = 'flag' | 'text' | 'repeated'

/** What each option takes, by namespace and key. */
const known: Readonly<Record<string, ReadonlyMap<string, Kind>>> = {
  ci: new Map([
    ['skip', 'flag'],
    ['variable', 'repeated'],
  ]),
  merge_request: new Map<string, Kind>([
    ['create', 'flag'],
    ['target', 'text'],
    ['target_project', 'text'],
    ['title', 'text'],
    ['description', 'text'],
    ['draft', 'flag'],
    ['remove_source_branch', 'flag'],
    ['merge_when_pipeline_succeeds', 'flag'],
    ['milestone', 'text'],
    ['label', 'repeated'],
    ['unlabel', 'repeated'],
    ['assign', 'repeated'],
    ['unassign', 'repeated'],
  ]),
}

const aliases: ReadonlyMap<string, string> = new Map([['mr', 'merge_request']])

/** Maximum options of a push, and of their characters together. More have no effect at all. */
const maxOptions = 100
const maxCharacters = 128 * 1024
/** Maximum characters of an option that a warning shows. */
const shownCharacters = 80

/**
 * Parses the options of a push. Of repeated options with one value, the last counts. Unknown and malformed options have no effect
 * and a warning. Pure, and linear in the size of the options.
 */
export function parsePushOptions(sent: readonly string[]): ParsedPushOptions {
  const characters = sent.reduce((total, option) => total + option.length, 0)
  if (sent.length > maxOptions || characters > maxCharacters) return { options: {}, valid: [], warnings: [tooMany] }
  const namespaces = new Map<string, Map<string, boolean | string | Map<string, number>>>()
  const valid: string[] = []
  const warnings: string[] = []
  for (const text of sent) {
    const option = parseOption(text)
    if (typeof option === 'string') {
      warnings.push(option)
      continue
    }
    valid.push(text)
    const { namespace, key, value } = option
    if (key === 'variable') warnings.push(variablesUnused)
    const values = namespaces.get(namespace) ?? new Map()
    namespaces.set(namespace, values)
    if (option.kind !== 'repeated') values.set(key, value)
    else {
      const counts = values.get(key) ?? new Map<string, number>()
      values.set(key, counts.set(value, (counts.get(value) ?? 0) + 1))
    }
  }
  return { options: asObject(namespaces), valid, warnings: [...new Set(warnings)] }
}

const tooMany = `No push option has an effect: the limit is ${maxOptions} options of ${maxCharacters} characters together.`

/** Webhooks show the variables nevertheless. `ci.skip` is what happens anyway. */
const variablesUnused = 'The push option ci.variable has no effect: this server runs no pipelines itself.'

type Option = {
  readonly namespace: string
  readonly key: string
  readonly kind: Kind
  readonly value: boolean | string
}

/** The option, or why it has no effect. */
function parseOption(text: string): Option | string {
  if (/[\p{Cc}\uFFFD]/u.test(text))
    return `The push option ${shown(text)} has no effect: it is not plain text in UTF-8.`
  const [, prefix = '', key = '', assigned] = /^([^.=]*)\.([^=]*)(=.*)?$/u.exec(text) ?? []
  const namespace = aliases.get(prefix) ?? prefix
  const kind = Object.hasOwn(known, namespace) ? known[namespace]!.get(key) : undefined
  if (kind === undefined) return `The push option ${shown(text)} is unknown and has no effect.`
  const value = assigned?.slice(1).trim() ?? ''
  if (kind !== 'flag')
    return value === ''
      ? `The push option ${shown(text)} has no effect: it needs a value.`
      : { namespace, key, kind, value }
  return ['', 'true', 'false'].includes(value)
    ? { namespace, key, kind, value: value !== 'false' }
    : `The push option ${shown(text)} has no effect: its value must be true or false.`
}

/** Text of a client in a warning, shortened. */
export function shown(text: string): string {
  const characters = [...text.slice(0, 2 * shownCharacters)].slice(0, shownCharacters)
  return `'${characters.join('')}${characters.join('').length < text.length ? '…' : ''}'`
}

type Values = ReadonlyMap<string, unknown>

/** `fromEntries` defines properties of any name, such as `__proto__`, without side effects. */
const asObject = (values: Values): object =>
  Object.fromEntries([...values].map(([name, value]) => [name, value instanceof Map ? asObject(value) : value]))

/** Options without those that create or change merge requests. */
export const withoutMergeRequests = (options: readonly string[]): string[] =>
  options.filter((option) => !/^(mr|merge_request)\./.test(option))
