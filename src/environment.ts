import { nearestNames } from './kernel/nearest-name.ts'

/** Every environment variable that is a setting. */
const settingNames = [
  'STITHY_DATA_DIR',
  'STITHY_HTTP_HOST',
  'STITHY_HTTP_PORT',
  'STITHY_SSH_PORT',
  'STITHY_EXTERNAL_URL',
  'STITHY_DATABASE_URL',
  'STITHY_BLOB_URL',
  'STITHY_REGISTRY_URL',
  'STITHY_BLOB_DOWNLOADS',
  'STITHY_PROCESSES',
  'STITHY_CACHE_MB',
  'STITHY_PLAN',
  'STITHY_ROOT_PASSWORD',
  'STITHY_ROOT_TOKEN',
  'STITHY_SMTP_URL',
  'STITHY_MAIL_FROM',
  'STITHY_IMPERSONATION',
  'STITHY_METRICS_FROM',
  'STITHY_PROXIES',
  'STITHY_LOG_LEVEL',
  'STITHY_BACKUP_URL',
  'STITHY_BACKUP_AT',
  'STITHY_BACKUP_KEEP',
  'STITHY_BACKUP_KEY_FILE',
  'STITHY_BACKUP_RATE',
] as const
export type SettingName = (typeof settingNames)[number]

/** Invalid settings. `mistakes` has one sentence per setting; the message lists all. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly mistakes: readonly string[]

  constructor(mistakes: readonly string[]) {
    super(
      mistakes.length === 1
        ? `Invalid setting: ${mistakes[0]}`
        : `${mistakes.length} invalid settings:\n${mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`,
    )
    this.mistakes = mistakes
  }
}

type Variables = Readonly<Record<string, string | undefined>>

/** Reads settings from environment variables, with a default for each that is absent or wrong, and collects every mistake. */
export class Environment {
  readonly #variables: Variables
  readonly #mistakes: string[]

  constructor(variables: Variables) {
    this.#variables = variables
    this.#mistakes = unknownSettings(variables)
  }

  /** Adds a sentence that names the setting. */
  mistake(sentence: string): void {
    this.#mistakes.push(sentence)
  }

  /** Throws one ConfigError that lists every mistake. */
  requireNoMistake(): void {
    if (this.#mistakes.length > 0) throw new ConfigError(this.#mistakes)
  }

  /** Undefined for an empty one. */
  text(name: SettingName): string | undefined {
    return isOfKubernetes(this.#variables, name) ? undefined : this.#variables[name]?.trim() || undefined
  }

  /** `parse` returns what is wrong, as the rest of a sentence, in a list. */
  parsed<T>(name: SettingName, fallback: T, parse: (text: string) => T | string[]): T {
    const text = this.text(name)
    if (text === undefined) return fallback
    const value = parse(text)
    if (!Array.isArray(value)) return value
    this.mistake(`${name} ${value.join(' ')}`)
    return fallback
  }

  whole(name: SettingName, fallback: number, least: number, most: number): number {
    return this.parsed(name, fallback, (text) =>
      /^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most
        ? Number(text)
        : [`must be a whole number from ${least} to ${most}, not "${text}"`],
    )
  }

  oneOf<T extends string>(name: SettingName, fallback: T, choices: readonly T[]): T {
    return this.parsed<T>(
      name,
      fallback,
      (text) => choices.find((choice) => choice === text) ?? [`must be one of ${choices.join(', ')}, not "${text}"`],
    )
  }

  secret(name: SettingName, leastLength: number): string | undefined {
    return this.parsed<string | undefined>(name, undefined, (text) =>
      text.length < leastLength
        ? [`must have at least ${leastLength} characters`]
        : /\s/.test(text)
          ? ['must not contain spaces or line breaks']
          : text,
    )
  }
}

const isSetting = (name: string): boolean => (settingNames as readonly string[]).includes(name)
/** Variables of the test run, which services that tests start inherit. */
const testVariable = /^STITHY_(TEST|EXAMPLES)_/
/** Kubernetes describes each service of a namespace to its pods in these variables, such as `stithy` and `stithy-ssh`. */
const kubernetesVariable =
  /^(STITHY(?:_[A-Z0-9]+)*?)_(?:SERVICE_(?:HOST|PORT(?:_\w+)?)|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/

/** Whether Kubernetes has set the variable: a setting, such as `STITHY_SSH_PORT`, only if the value is that of a service. */
function isOfKubernetes(env: Variables, name: string): boolean {
  const service = kubernetesVariable.exec(name)?.[1]
  const isDescribed = service !== undefined && env[`${service}_SERVICE_HOST`] !== undefined
  return isDescribed && (!isSetting(name) || /^(tcp|udp|sctp):\/\//.test(env[name] ?? ''))
}

/** One sentence for each variable that looks like a setting and is none, so that a misspelt one is not ignored. */
function unknownSettings(env: Variables): string[] {
  const isForeign = (name: string) => testVariable.test(name) || isOfKubernetes(env, name)
  return Object.keys(env)
    .filter((name) => /^stithy_/i.test(name) && !isSetting(name) && !isForeign(name))
    .sort()
    .map((name) => `${name} is not a setting: did you mean ${nearestNames(name, settingNames).join(' or ')}?`)
}
