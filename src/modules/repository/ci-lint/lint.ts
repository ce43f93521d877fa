import { stringify } from 'yaml'
import { type Fields, isFields, jobErrors, jobSummaries } from './jobs.ts'
import { Budget, extendJobs, mergeFields, TooMuch } from './merge.ts'
import { resolveReferences } from './references.ts'
import { invalid, type Lint, type ReadFile } from './result.ts'
import { parseYaml } from './yaml.ts'

const maxIncludes = 50
const maxErrors = 100
/** Maximum bytes of all included files. */
const maxIncludedBytes = 512 * 1024
/** Maximum characters of the merged configuration: many jobs may extend one with long texts. */
const maxMergedLength = 1024 * 1024

/**
 * Checks a pipeline configuration: syntax, keywords, scripts, stages, `needs`, `dependencies` and `extends`, with local
 * files that it includes. It cannot read other kinds of `include`, which it says in a warning; then errors about names that
 * such a file might define are left out.
 */
export async function lintPipeline(
  text: string,
  readFile: ReadFile,
  { includeJobs = false }: { includeJobs?: boolean } = {},
): Promise<Lint> {
  const parsed = parseYaml(text)
  if ('error' in parsed) return invalid(parsed.error)
  if (!isFields(parsed.value)) return invalid('Invalid configuration format')
  const budget = new Budget()
  const errors: string[] = []
  const warnings: string[] = []
  const included = new Set<string>()
  let includedBytes = 0
  try {
    const whole = await withIncludes(parsed.value)
    const complete = warnings.length === 0
    const extended = extendJobs(whole, complete, budget)
    const { config, errors: unresolved } = resolveReferences(extended.config, complete, budget)
    errors.push(...extended.errors, ...unresolved, ...jobErrors(config, complete))
    requireLength(config)
    return {
      errors: errors.slice(0, maxErrors),
      warnings,
      mergedYaml: stringify(config, { aliasDuplicateObjects: true }),
      includes: [...included],
      jobs: includeJobs && errors.length === 0 ? jobSummaries(config) : undefined,
    }
  } catch (error) {
    if (error instanceof TooMuch) return invalid(error.message)
    throw error
  }

  /** The file over those that it includes, which are read once each, however they include each other. */
  async function withIncludes({ include, ...own }: Fields): Promise<Fields> {
    let base: Fields = {}
    for (const entry of include === undefined ? [] : Array.isArray(include) ? include : [include]) {
      const path = localPath(entry)
      if (path === undefined) warnings.push(`An include was not read: ${JSON.stringify(entry)?.slice(0, 200)}`)
      else base = mergeFields(base, await fileAt(path), budget)
    }
    return mergeFields(base, own, budget)
  }

  async function fileAt(path: string): Promise<Fields> {
    if (included.has(path)) return {}
    if (included.size >= maxIncludes) throw new TooMuch(`Maximum of ${maxIncludes} nested includes are allowed!`)
    included.add(path)
    const found = await readFile(path)
    includedBytes += 'text' in found ? Buffer.byteLength(found.text) : 0
    if (includedBytes > maxIncludedBytes)
      throw new TooMuch(`the included files are larger than ${maxIncludedBytes} bytes together`)
    const content = 'error' in found ? found : parseYaml(found.text)
    if ('error' in content) errors.push(`Included file \`${path}\`: ${content.error}`)
    else if (isFields(content.value)) return withIncludes(content.value)
    else errors.push(`Included file \`${path}\` does not have valid YAML syntax!`)
    return {}
  }
}

/** The path of a local include; undefined for other kinds, and for patterns. */
function localPath(entry: unknown): string | undefined {
  const path = isFields(entry) ? entry['local'] : entry
  if (typeof path !== 'string' || /^https?:|[*$]/.test(path)) return undefined
  return path.replace(/^\/+/, '')
}

/** Refuses a configuration that would be too long as text. Each object counts once, because the text repeats it as an alias. */
function requireLength(config: Fields): void {
  const seen = new Set<object>()
  const open: unknown[] = [config]
  let length = 0
  while (open.length > 0) {
    const value = open.pop()
    length += typeof value === 'string' ? value.length : 1
    if (length > maxMergedLength) throw new TooMuch('the merged configuration is too long')
    if (typeof value !== 'object' || value === null || seen.has(value)) continue
    seen.add(value)
    for (const [name, each] of Object.entries(value)) open.push(name, each)
  }
}
