import type { Config } from '../config.ts'
import { capitalized } from '../kernel/capitalized.ts'
import { type Finding, findings } from './doctor-finding.ts'
import { requireFreeAddress } from './requirements.ts'

const ports = findings('Ports')
const address = findings('Address')

const timeoutMs = 10_000

/** Whether the ports are free; while the service runs, whether it responds. */
export async function checkPorts({ http, sshPort }: Config, isRunning: boolean): Promise<Finding[]> {
  if (isRunning) {
    const host = ['0.0.0.0', '::'].includes(http.host) ? '127.0.0.1' : http.host
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${http.port}`
    const seen = await connectionAt(url)
    return [
      'failed' in seen
        ? ports.failed(
            `the service runs and does not respond at ${url}: ${seen.failed}`,
            'Read its log, and restart it.',
          )
        : ports.ok(`the service responds at ${url}`),
    ]
  }
  const wanted = [
    { port: http.port, variable: 'STITHY_HTTP_PORT' as const },
    ...(sshPort > 0 ? [{ port: sshPort, variable: 'STITHY_SSH_PORT' as const }] : []),
  ]
  return Promise.all(
    wanted.map(async ({ port, variable }) => {
      try {
        await requireFreeAddress({ host: http.host, port }, variable)
        return ports.ok(`${http.host}:${port} is free (${variable})`)
      } catch (error) {
        const [text = '', advice = `Set ${variable}.`] = (error as Error).message.split(/: (?=stop|set)/)
        return ports.failed(text, capitalized(advice))
      }
    }),
  )
}

/** What the service says about a connection to it (`/-/connection`). */
export type Connection = {
  readonly address: string
  readonly host: string | null
  readonly forwarded_for: boolean
  /** Whether the service takes the address of the client from it. */
  readonly believed: boolean
  readonly forwarded_proto: string | null
}

/** Whether clients reach the service at its external URL, and whether a proxy in front of it sends what it must. */
export async function checkAddress({ externalUrl, http }: Config, isRunning: boolean): Promise<Finding[]> {
  if (!isRunning) return [address.ok(`${externalUrl} is checked while the service runs`)]
  const seen = await connectionAt(externalUrl)
  if ('failed' in seen)
    return [
      address.failed(
        `${externalUrl} does not lead to the service: ${seen.failed}`,
        'Check STITHY_EXTERNAL_URL, the name in the DNS, the certificate and the proxy.',
      ),
    ]
  return assessConnection(seen, externalUrl, http.port)
}

/** Findings about a connection through `externalUrl`; `httpPort` is the port on which the service itself listens. */
export function assessConnection(seen: Connection, externalUrl: string, httpPort: number): Finding[] {
  const url = new URL(externalUrl)
  const isDirect = url.protocol === 'http:' && Number(url.port || 80) === httpPort
  if (isDirect && !seen.forwarded_for) return [address.ok(`${externalUrl} leads to the service, without a proxy`)]
  const missing = [
    ...(seen.forwarded_for && !seen.believed
      ? [
          address.warning(
            `the proxy at ${externalUrl} reaches the service from ${seen.address}, whose X-Forwarded-For it does not believe`,
            `Set STITHY_PROXIES=${seen.address}: otherwise all clients share the rate limits of one address.`,
          ),
        ]
      : []),
    ...(seen.forwarded_for
      ? []
      : [
          address.warning(
            `the proxy at ${externalUrl} does not send X-Forwarded-For`,
            'Let the proxy send it: otherwise all clients share the rate limits of one address.',
          ),
        ]),
    ...(seen.forwarded_proto === url.protocol.slice(0, -1)
      ? []
      : [
          address.warning(
            `X-Forwarded-Proto is ${seen.forwarded_proto ?? 'missing'} at ${externalUrl}`,
            `Let the proxy send X-Forwarded-Proto: ${url.protocol.slice(0, -1)}.`,
          ),
        ]),
    ...(seen.host === url.host
      ? []
      : [
          address.warning(
            `the proxy at ${externalUrl} sends the host ${seen.host ?? 'of nothing'}`,
            `Let the proxy pass on the header Host: ${url.host}.`,
          ),
        ]),
  ]
  return missing.length > 0
    ? missing
    : [
        address.ok(
          `${externalUrl} leads to the service through a proxy, which sends the client's address (${seen.address})`,
        ),
      ]
}

async function connectionAt(base: string): Promise<Connection | { failed: string }> {
  try {
    const response = await fetch(`${base}/-/connection`, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' })
    if (response.status !== 200) return { failed: `it answers with status ${response.status}` }
    const seen = (await response.json().catch(() => undefined)) as Partial<Connection> | undefined
    return typeof seen?.address === 'string' ? (seen as Connection) : { failed: 'another program answers' }
  } catch (error) {
    const { cause, message } = error as Error
    return { failed: cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : message }
  }
}
