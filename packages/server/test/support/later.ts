// Long waits. Moving the clock past an hour would wake every loop of a running service thousands of times; nothing runs
// here.
import type { Service } from './service.ts'

/** The service as it is after that time, restarted. What was made with the one before still speaks to that one. */
export async function later(service: Service, ms: number): Promise<Service> {
  await service.app.close()
  await service.clock.advance(ms)
  return service.restart()
}
