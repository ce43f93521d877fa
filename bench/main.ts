import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { repositoryDir } from '../src/modules/projects/repositories/location.ts'
import { compareWith } from './against.ts'
import { Client } from './client.ts'
import { cloneTimes } from './clone.ts'
import { startCommits } from './commits.ts'
import { benchFolder, ensureData } from './data.ts'
import { type EndpointBench, endpointsFor, isRead } from './endpoints.ts'
import { startFloor } from './floor.ts'
import { makeGitRequests } from './git-requests.ts'
import { manyRefsTimes } from './many-refs.ts'
import { oneByOne } from './one-by-one.ts'
import { gitReference, mixedReference, referenceOf } from './reference.ts'
import {
  againstHead,
  againstRow,
  cloneLines,
  manyRefsLines,
  memoryLines,
  oneByOneLines,
  referenceHead,
  referenceRow,
  sshLines,
  startLines,
  stormHead,
  stormRow,
  throughputHead,
  throughputRow,
  variedHead,
  variedRow,
  variedSummary,
} from './report.ts'
import { ensureRepository } from './repository.ts'
import { freePort, type Service, startService } from './service.ts'
import { isSizeName, sizes } from './sizes.ts'
import { ensureSketches } from './sketches.ts'
import { sshTimes } from './ssh.ts'
import { startTimes } from './start-times.ts'
import { stormTimes } from './storm.ts'
import { refusalOf, throughputOf } from './throughput.ts'
import { sampleOf } from './varied/sample.ts'
import { variedAlone, variedAt } from './varied/varied.ts'
import { repositoryProject } from './world.ts'

const help = `npm run bench -- [options]

  --size S|M|L|XL    how much is stored (S)
  --only PATTERN     only calls whose name matches
  --seconds N        seconds of load for each call (3), or for each test of the reference load (10)
  --reference        the reference load instead: constant rates
  --clone            clones over HTTP, over SSH and from git daemon instead
  --storm N          that many clones at once, equal ones and different ones, instead
  --ssh              pushes, refusals and those who stall over SSH instead
  --refs N           pushes of that many refs, beside plain git, instead
  --one              reads of history and commits, one after the other, instead
  --varied           200 reads and 20 writes a second instead, each by another caller, with another id, page or order
  --alone            each kind of those calls alone, two requests at a time, instead
  --rates R,W        other rates of reads and writes for --varied; 'double' doubles them until p90 exceeds 100 ms
  --start            start times and memory instead
  --against FOLDER   this checkout and the one in FOLDER, in turns, instead
  --rounds N         rounds of each call against the other checkout (40)
  --commits N        transactions committed a second beside it (0)
  --processes N      HTTP workers, and floor workers (2)
`

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: 'S' },
    only: { type: 'string' },
    seconds: { type: 'string' },
    reference: { type: 'boolean' },
    clone: { type: 'boolean' },
    storm: { type: 'string' },
    ssh: { type: 'boolean' },
    refs: { type: 'string' },
    one: { type: 'boolean' },
    varied: { type: 'boolean' },
    alone: { type: 'boolean' },
    rates: { type: 'string' },
    start: { type: 'boolean' },
    against: { type: 'string' },
    rounds: { type: 'string', default: '40' },
    commits: { type: 'string', default: '0' },
    processes: { type: 'string', default: '2' },
    help: { type: 'boolean' },
  },
})
const { size: sizeName } = values
const isChosen = (name: string) => values.only === undefined || new RegExp(values.only).test(name)
const print = (...lines: string[]) => console.log(lines.join('\n'))

if (values.help || !isSizeName(sizeName)) print(help)
else {
  const chosenSize = sizeName
  const size = sizes[chosenSize]
  const processes = Number(values.processes)
  const note = (line: string) => console.error(line)

  if (values.ssh) print(...sshLines(await sshTimes(processes)))
  else if (values.refs) print(...manyRefsLines(await manyRefsTimes(processes, Number(values.refs), 3)))
  else if (values.one) print(...oneByOneLines(await oneByOne(note)))
  else if (values.start) print(...startLines(await startTimes(processes, 5)))
  else if (values.against !== undefined) await against(values.against)
  else {
    const dataDir = await ensureData(
      sizeName,
      note,
      values.varied || values.alone ? join(benchFolder, 'writes') : benchFolder,
    )
    await using service = await startService(dataDir, processes)
    if (values.clone) {
      const gitDir = repositoryDir(join(dataDir, 'repositories'), 'default', repositoryProject)
      print(...cloneLines(await cloneTimes(service, gitDir, benchFolder, 7)))
    } else if (values.storm) {
      const gitDir = repositoryDir(join(dataDir, 'repositories'), 'default', repositoryProject)
      print(...stormHead)
      for await (const storm of stormTimes(service, gitDir, Number(values.storm))) print(stormRow(storm))
    } else if (values.varied || values.alone) {
      await ensureSketches(repositoryDir(join(dataDir, 'repositories'), 'default', repositoryProject))
      await varied(service)
    } else {
      const chosen = await answering(
        endpointsFor(size).filter(({ name }) => isChosen(name)),
        service,
      )
      await (values.reference ? reference(chosen, service) : throughput(chosen, service))
    }
  }

  async function answering(endpoints: EndpointBench[], { port }: Service): Promise<EndpointBench[]> {
    const refusals = await Promise.all(endpoints.map((endpoint) => refusalOf(endpoint, size, port)))
    return endpoints.filter(({ name }, index) => {
      if (refusals[index] !== undefined) note(`${name}: ${refusals[index]}`)
      return refusals[index] === undefined
    })
  }

  async function throughput(endpoints: readonly EndpointBench[], service: Service): Promise<void> {
    const port = await freePort()
    const { databaseUrl } = service
    await using _floor = await startFloor({ port, databaseUrl, processes, projects: size.projects })
    await using _commits = await startCommits(databaseUrl, Number(values.commits))
    await using client = new Client()
    print(...throughputHead)
    const ports = { service: service.port, floor: port }
    for (const endpoint of endpoints.filter(isRead))
      print(throughputRow(await throughputOf(endpoint, size, ports, client, Number(values.seconds ?? 3))))
    print('', ...memoryLines(service.memory()))
  }

  async function against(folder: string): Promise<void> {
    await using client = new Client()
    print(...againstHead)
    const chosen = endpointsFor(size).filter(({ name }) => isChosen(name))
    const options = {
      sizeName: chosenSize,
      processes,
      rounds: Number(values.rounds),
      seconds: Number(values.seconds ?? 4),
      isChosen,
      note,
    }
    for await (const each of compareWith(folder, chosen, client, options)) print(againstRow(each))
  }

  async function varied(service: Service): Promise<void> {
    const { port, databaseUrl } = service
    const sample = await sampleOf(databaseUrl, size, await ensureRepository(benchFolder))
    const target = { host: '127.0.0.1', port }
    if (values.alone) {
      const figures = await variedAlone(target, sample, isChosen, Number(values.seconds ?? 3))
      print(...variedHead, ...figures.map(variedRow))
      return
    }
    if (values.rates === 'double') {
      const seconds = Number(values.seconds ?? 30)
      for (let reads = 100; ; reads *= 2) {
        const load = await variedAt(target, sample, { reads, writes: reads / 10 }, seconds)
        print(variedSummary({ reads, writes: reads / 10 }, load))
        if (!(load.figures[0]!.p90 <= 100)) return
      }
    }
    const [reads = 200, writes = 20] = values.rates?.split(',').map(Number) ?? []
    const load = await variedAt(target, sample, { reads, writes }, Number(values.seconds ?? 60))
    print(variedSummary({ reads, writes }, load), '', ...variedHead, ...load.figures.map(variedRow))
    print('', ...memoryLines(service.memory()))
  }

  async function reference(endpoints: readonly EndpointBench[], { port }: Service): Promise<void> {
    const seconds = Number(values.seconds ?? 10)
    const timed = endpoints.filter(({ referenceP90 }) => referenceP90 !== undefined)
    const pushes = seconds * 4 * 2
    const git = makeGitRequests(await ensureRepository(benchFolder), join(benchFolder, 'git-requests'), pushes)
    await using client = new Client()
    await using puller = new Client()
    await using pusher = new Client()
    print(...referenceHead)
    for (const endpoint of timed) print(referenceRow(await referenceOf(endpoint, size, port, client, seconds)))
    if (values.only !== undefined) return
    for (const each of await gitReference(git, port, client, seconds)) print(referenceRow(each))
    for (const each of await mixedReference(timed, size, git, port, [client, puller, pusher], seconds))
      print(referenceRow(each))
  }
}
