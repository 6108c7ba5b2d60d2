// Messages of a runner's channel as either side would send them.
import { encodeFrames } from '../../api/hooks/rpc/frames.ts';

/** One message as bytes, ready to be sent. */
export function encodeFrame(message: object): Buffer {
  return encodeFrames([JSON.stringify(message)]);
}
