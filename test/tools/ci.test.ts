import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../src/processes/testing/launch.ts'

/** Runs a copy of `.ci/run` where the only programs are these scripts and some of the system. */
async function ci(scripts: Readonly<Record<string, string>>) {
  const folder = await temporaryFolder()
  const bin = join(folder, 'bin')
  const write = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  }
  mkdirSync(join(folder, '.ci'))
  copyFileSync(new URL('../../.ci/run', import.meta.url), join(folder, '.ci', 'run'))
  for (const name of ['s3', 'oci']) write(join(folder, 'test', name, 'install'), 'exit 0')
  for (const [name, text] of Object.entries(scripts)) write(join(bin, name), text)
  for (const name of ['bash', 'sh', 'dirname', 'mktemp', 'rm', 'touch'])
    symlinkSync(`/usr/bin/${name}`, join(bin, name))
  symlinkSync(process.execPath, join(bin, 'node'))
  const { status, stdout } = spawnSync('/usr/bin/bash', [join(folder, '.ci', 'run')], {
    env: { PATH: bin, LOG: join(folder, 'log') },
    encoding: 'utf8',
  })
  return {
    status,
    lines: stdout.trim().split('\n'),
    log: () => readFileSync(join(folder, 'log'), 'utf8').trim().split('\n'),
  }
}

const passing = '{"numPassedTests":2,"numFailedTests":0,"numPendingTests":3,"numTodoTests":0,"testResults":[]}'
/** Writes the report that the tests would. */
const npm = `for each in "$@"; do case $each in --outputFile.json=*) echo '${passing}' > "\${each#*=}" ;; esac; done`

test.skipIf(process.platform !== 'linux')(
  'CI installs what it can, names what it cannot, and passes: tests that need it are skipped',
  async () => {
    const { status, lines, log } = await ci({
      npm,
      id: 'echo 0',
      // Knows everything but two packages.
      'apt-get': `
      echo "$@" >> "$LOG"
      for each in "$@"; do
        case $each in
          skopeo | golang-go) exit 100 ;;
          openssh-client) name=ssh ;;
          gnupg) name=gpg ;;
          systemd) name=systemd-analyze ;;
          python3-pip) name=python3 ;;
          *) name=$each ;;
        esac
      done
      case $1 in install) printf '#!/bin/sh\\n' > "$PATH/$name"; "$PATH/node" -e 'fs.chmodSync(process.argv[1], 0o755)' "$PATH/$name" ;; esac`,
    })
    expect({ status, lines }).toEqual({
      status: 0,
      lines: [
        'not installed: golang-go, skopeo; the tests that need it are skipped',
        '3 skipped: each says why',
        '2 passed, 0 failed',
      ],
    })
    expect(log()[0]).toBe('update -qq')
    expect(log()).toContain('install -y --no-install-recommends strace')
  },
)

test.skipIf(process.platform !== 'linux')('CI fails when a test or a check fails, whatever is installed', async () => {
  const failing = npm.replace('"numFailedTests":0', '"numFailedTests":1')
  for (const [name, script] of [
    ['tests', `${failing}\ncase $1 in test) exit 1 ;; esac`],
    ['check', `${npm}\ncase "$*" in *check) exit 1 ;; esac`],
    ['installation', 'case $1 in ci) exit 1 ;; esac'],
  ] as const)
    expect(await ci({ npm: script, id: 'echo 1000' }), name).toMatchObject({ status: 1 })
})
