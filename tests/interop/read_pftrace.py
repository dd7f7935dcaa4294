# SPDX-License-Identifier: MIT
"""Reads a Perfetto trace by the classes of the package `perfetto`, for a test that runs
this as a program: `python read_pftrace.py FILE`.

It checks what holds of every trace: packets of a sequence need state that was cleared in
it, every interned id resolves in its sequence, times of a sequence never go back, tracks
are described before they are used, what begins on a track ends.  Then it prints the
slices, the render stages and the counters as JSON.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from typing import Any

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

CLEARED, NEEDS = 1, 2
GPU_CORRELATION = 3000  # an extension of TrackEvent, which the package lacks
# Field of InternedData -> what a text of it is called here.
TABLES = {
    "event_categories": "category",
    "event_names": "name",
    "debug_annotation_names": "annotation",
    "gpu_specifications": "specification",
    "graphics_contexts": "context",
}


class Reader:
    """One pass over the packets."""

    def __init__(self) -> None:
        self.tables: dict[int, dict[str, dict[int, Any]]] = {}
        self.clocks: dict[int, int] = {}
        self.last: dict[int, int] = {}
        self.tracks: dict[int, dict[str, Any]] = {}
        self.open: dict[int, list[tuple[int, int, dict[str, Any]]]] = defaultdict(list)
        self.slices: list[dict[str, Any]] = []
        self.instants: list[dict[str, Any]] = []
        self.stages: list[dict[str, Any]] = []
        self.counters: list[dict[str, Any]] = []
        self.device_counters: dict[int, str] = {}
        self.snapshot: dict[int, int] = {}
        self.ends: list[tuple[int, int, int, Any]] = []

    def read(self, trace: Any) -> dict[str, Any]:
        """Everything of the trace."""
        for packet in trace.packet:
            self.packet(packet)
        self.match()
        return {
            "tracks": list(self.tracks.values()),
            "slices": self.slices,
            "instants": self.instants,
            "stages": self.stages,
            "counters": self.counters,
            "clocks": self.snapshot,
            "sequences": len(self.tables),
        }

    def packet(self, packet: Any) -> None:
        """One packet."""
        sequence = packet.trusted_packet_sequence_id
        assert sequence != 0
        if packet.HasField("clock_snapshot"):
            self.snapshot = {
                clock.clock_id: clock.timestamp
                for clock in packet.clock_snapshot.clocks
            }
        if packet.HasField("track_descriptor"):
            self.track(packet.track_descriptor)
        if packet.sequence_flags & CLEARED:
            assert sequence not in self.tables, "state is cleared once"
            self.tables[sequence] = {name: {} for name in TABLES.values()}
            self.clocks[sequence] = packet.trace_packet_defaults.timestamp_clock_id
        if not packet.HasField("timestamp"):
            return
        assert packet.sequence_flags & NEEDS
        assert self.clocks[sequence] == 1  # CLOCK_REALTIME
        assert self.clocks[sequence] in self.snapshot
        assert packet.timestamp >= self.last.get(sequence, 0), "times go back"
        self.last[sequence] = packet.timestamp
        tables = self.tables[sequence]
        for field, name in TABLES.items():
            for entry in getattr(packet.interned_data, field):
                assert entry.iid not in tables[name], "a text comes once"
                tables[name][entry.iid] = entry
        if packet.HasField("track_event"):
            self.event(packet.timestamp, packet.track_event, tables)
        if packet.HasField("gpu_render_stage_event"):
            self.stage(packet.timestamp, packet.gpu_render_stage_event, tables)
        if packet.HasField("gpu_counter_event"):
            self.device_counter(packet.timestamp, packet.gpu_counter_event)

    def track(self, track: Any) -> None:
        """A description."""
        assert track.uuid not in self.tracks
        parent = self.tracks[track.parent_uuid] if track.parent_uuid else None
        self.tracks[track.uuid] = {
            "uuid": track.uuid,
            "name": track.name
            or track.thread.thread_name
            or track.process.process_name,
            "parent": parent and parent["name"],
            "tid": track.thread.tid,
            "counter": track.HasField("counter"),
        }

    @staticmethod
    def value(annotation: Any) -> Any:
        """Of an annotation."""
        if annotation.array_values:
            return [Reader.value(value) for value in annotation.array_values]
        kind = annotation.WhichOneof("value")
        found = getattr(annotation, kind)
        return json.loads(found) if kind == "legacy_json_value" else found

    @staticmethod
    def submits(event: Any) -> list[int]:
        """Ids of the render stages that a call gave away."""
        found = [
            f.data for f in UnknownFieldSet(event) if f.field_number == GPU_CORRELATION
        ]
        for data in found:
            assert data[0] == 8  # field 1, a varint
        return [
            sum((byte & 127) << 7 * i for i, byte in enumerate(data[1:]))
            for data in found
        ]

    def event(self, time: int, event: Any, tables: dict[str, dict[int, Any]]) -> None:
        """A TrackEvent."""
        kinds = pb.TrackEvent
        track = self.tracks[event.track_uuid]
        if event.type == kinds.TYPE_SLICE_END:
            self.ends.append((time, 1, event.track_uuid, None))
            return
        if event.type == kinds.TYPE_COUNTER:
            assert track["counter"]
            value = event.double_counter_value
            self.counters.append({"name": track["name"], "time": time, "value": value})
            return
        args = {
            annotation.name
            or tables["annotation"][annotation.name_iid].name: self.value(annotation)
            for annotation in event.debug_annotations
        }
        seen = {
            "track": track,
            "start": time,
            "name": event.name or tables["name"][event.name_iid].name
            if event.name_iid
            else event.name,
            "category": [tables["category"][iid].name for iid in event.category_iids],
            "args": args,
            "flows": list(event.flow_ids),
            "ends": list(event.terminating_flow_ids),
            "correlation": event.correlation_id,
            "submits": self.submits(event),
        }
        if event.type == kinds.TYPE_INSTANT:
            self.instants.append(seen)
        else:
            assert event.type == kinds.TYPE_SLICE_BEGIN
            self.ends.append((time, 0, event.track_uuid, seen))

    def match(self) -> None:
        """Ends meet what began last on their track, as in Perfetto: by time, then as
        they came."""
        order = sorted(enumerate(self.ends), key=lambda entry: (entry[1][0], entry[0]))
        for _, (time, ended, uuid, seen) in order:
            if ended:
                begun = self.open[uuid].pop()
                begun["end"] = time
                self.slices.append(begun)
            else:
                self.open[uuid].append(seen)
        assert not any(self.open.values())

    def stage(self, time: int, stage: Any, tables: dict[str, dict[int, Any]]) -> None:
        """Work of a device."""
        context = tables["context"][stage.context]
        launch = stage.launch
        self.stages.append(
            {
                "id": stage.event_id,
                "start": time,
                "end": time + stage.duration,
                "device": stage.gpu_id,
                "queue": tables["specification"][stage.hw_queue_iid].name,
                "stage": tables["specification"][stage.stage_iid].name,
                "compute": tables["specification"][stage.stage_iid].category == 2,
                "api": pb.InternedGraphicsContext.Api.Name(context.api),
                "pid": context.pid,
                "name": tables["name"][stage.name_iid].name
                if stage.name_iid
                else stage.name,
                "grid": [launch.grid_size.x, launch.grid_size.y, launch.grid_size.z],
                "block": [
                    launch.workgroup_size.x,
                    launch.workgroup_size.y,
                    launch.workgroup_size.z,
                ],
                "args": {arg.name: arg.uint_value for arg in launch.args},
            }
        )

    def device_counter(self, time: int, event: Any) -> None:
        """A value, or the description of those that follow."""
        for spec in event.counter_descriptor.specs:
            assert spec.counter_id not in self.device_counters
            self.device_counters[spec.counter_id] = spec.name
        for counter in event.counters:
            self.counters.append(
                {
                    "name": self.device_counters[counter.counter_id],
                    "device": event.gpu_id,
                    "time": time,
                    "value": counter.double_value,
                }
            )


def main() -> None:
    """Prints what the file has."""
    trace = pb.Trace()
    with open(sys.argv[1], "rb") as file:
        trace.ParseFromString(file.read())
    print(json.dumps(Reader().read(trace)))


if __name__ == "__main__":
    main()
