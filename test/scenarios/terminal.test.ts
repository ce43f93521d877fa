import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freePort, temporaryFolder } from '../../src/processes/testing/launch.ts'
import { bin } from '../service.ts'
import { eventually } from '../waiting.ts'

/** Runs a command on a terminal of its own; `type` sends keys. */
function onTerminal(words: readonly string[], env: Record<string, string>) {
  const command = ['exec', process.execPath, bin, ...words].join(' ')
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env['PATH'], TERM: 'dumb', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const shown = { text: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown.text += text.replaceAll('\r', '')
  })
  const exit = once(child, 'close').then(([code]) => code as number)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exit
  })
  return { shown, exit, type: (keys: string) => child.stdin.write(keys) }
}

const ctrlC = '\x03'
const hasTerminals = process.platform === 'linux' && existsSync('/usr/bin/script')

describe.runIf(hasTerminals)('on a terminal', () => {
  test('a first start prints plain lines about addresses and data; Ctrl-C prints what the stop waits for, and a second one ends it', async () => {
    const [folder, port, sshPort] = [await temporaryFolder(), await freePort(), await freePort()]
    const env = {
      STITHY_DATA_DIR: folder,
      STITHY_HTTP_PORT: String(port),
      STITHY_SSH_PORT: String(sshPort),
      STITHY_PROCESSES: '1',
    }
    const { shown, exit, type } = onTerminal(['serve'], env)
    const url = `http://127.0.0.1:${port}`
    await eventually(() => expect(shown.text).toContain('Ctrl-C\n'))
    expect(shown.text).toMatch(
      new RegExp(
        `^Stithy is ready at ${url}

  Sign in      as root with the password \\S{16,}
               or, for git and the API, the token \\S{20,}
               \\(both are stored in ${join(folder, 'root-credentials')}\\)
  Push         git push ${url}/root/hello.git main
  Push by SSH  ssh://git@127.0.0.1:${sshPort}/root/hello.git
  API          ${url}/-/docs
  Data         ${folder}
  Stop         press Ctrl-C
`,
        'm',
      ),
    )
    expect(shown.text).not.toContain('{"')

    // The log is text, too, and shows no sequence that the terminal would obey.
    await fetch(`${url}/api/v4/version`)
    await eventually(() => expect(shown.text).toMatch(/^\d\d:\d\d:\d\d INFO {2}request .*status=401/m))

    // A request whose body never comes.
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    socket.write('POST /oauth/token HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\nexpect: 100-continue\r\n\r\n')
    await once(socket, 'data')
    type(ctrlC)
    await eventually(() =>
      expect(shown.text).toContain('Stopping: waiting for 1 request. Press Ctrl-C again to stop at once.'),
    )
    type(ctrlC)
    expect(await exit).toBe(0)
  })
})
