#!/usr/bin/env python3
"""Make coastlines-110m.bin and coastlines-50m.bin from the TopoJSON files of the npm package world-atlas.

    npm pack world-atlas@2.0.2 && tar xzf world-atlas-2.0.2.tgz
    python3 make-coastlines.py package

The layout of the files is described in README.md beside this script. Only the standard library is needed.
"""

import json
import math
import pathlib
import sys

# Level: (source, units per degree, tolerance of the simplification in degrees, smallest extent of an island in degrees)
LEVELS = {
    "110m": ("land-110m.json", 50, 0.0, 0.0),
    "50m": ("land-50m.json", 100, 0.04, 0.16),
}


def lines(topology):
    """Arcs of the land as lists of (longitude, latitude), joined to rings where the topology joins them."""
    scale, translate = topology["transform"]["scale"], topology["transform"]["translate"]
    arcs = []
    for arc in topology["arcs"]:
        x = y = 0
        points = []
        for dx, dy in arc:
            x, y = x + dx, y + dy
            points.append((x * scale[0] + translate[0], y * scale[1] + translate[1]))
        arcs.append(points)
    for geometry in topology["objects"]["land"]["geometries"]:
        polygons = geometry["arcs"] if geometry["type"] == "MultiPolygon" else [geometry["arcs"]]
        for polygon in polygons:
            for ring in polygon:
                points = []
                for index in ring:
                    arc = arcs[index] if index >= 0 else arcs[~index][::-1]
                    points += arc[1:] if points else arc
                yield points


def without_cuts(ring):
    """The ring without the edges that exist only because the map was cut: along the dateline and at the south pole."""

    def cut(a, b):
        return (abs(a[0]) > 179.98 and abs(b[0]) > 179.98) or (a[1] < -89.9 or b[1] < -89.9)

    parts, part = [], [ring[0]]
    for a, b in zip(ring, ring[1:]):
        if cut(a, b):
            parts.append(part)
            part = [b]
        elif abs(a[0] - b[0]) > 180:
            # The ring goes on across the dateline: it ends on one side and starts on the other.
            side = 180 if a[0] > 0 else -180
            left, right = side - a[0], b[0] + side
            share = left / (left + right) if left + right else 0
            lat = a[1] + share * (b[1] - a[1])
            parts.append(part + [(side, lat)])
            part = [(-side, lat), b]
        else:
            part.append(b)
    parts.append(part)
    if len(parts) > 1 and parts[0][0] == parts[-1][-1]:
        parts[0] = parts.pop() + parts[0][1:]
    parts = [[point for index, point in enumerate(part) if index == 0 or point != part[index - 1]] for part in parts]
    return [part for part in parts if len(part) > 1]


def simplified(points, tolerance):
    """Douglas-Peucker, with longitudes shortened by the cosine of the latitude."""
    if tolerance == 0 or len(points) < 3:
        return points
    if points[0] == points[-1]:
        middle = max(range(len(points)), key=lambda i: math.dist(points[i], points[0]))
        return simplified(points[: middle + 1], tolerance) + simplified(points[middle:], tolerance)[1:]
    keep, stack = {0, len(points) - 1}, [(0, len(points) - 1)]
    while stack:
        first, last = stack.pop()
        shrink = math.cos(math.radians((points[first][1] + points[last][1]) / 2))
        ax, ay = points[first][0] * shrink, points[first][1]
        bx, by = points[last][0] * shrink, points[last][1]
        length = math.hypot(bx - ax, by - ay)
        worst, where = tolerance, None
        for i in range(first + 1, last):
            px, py = points[i][0] * shrink, points[i][1]
            if length == 0:
                far = math.hypot(px - ax, py - ay)
            else:
                t = max(0, min(1, ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / length**2))
                far = math.hypot(px - ax - t * (bx - ax), py - ay - t * (by - ay))
            if far > worst:
                worst, where = far, i
        if where is not None:
            keep.add(where)
            stack += [(first, where), (where, last)]
    return [points[i] for i in sorted(keep)]


def extent(points):
    xs, ys = zip(*points)
    return max((max(xs) - min(xs)) * math.cos(math.radians(sum(ys) / len(ys))), max(ys) - min(ys))


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value):
    return varint(value * 2 if value >= 0 else -value * 2 - 1)


def main(folder):
    for level, (source, units, tolerance, smallest) in LEVELS.items():
        topology = json.loads((pathlib.Path(folder) / source).read_text())
        out, count = bytearray(varint(units)), 0
        for ring in lines(topology):
            if extent(ring) < smallest:
                continue
            for part in without_cuts(ring):
                points = []
                for lon, lat in simplified(part, tolerance):
                    point = (round(lon * units), round(lat * units))
                    if not points or points[-1] != point:
                        points.append(point)
                if len(points) < 2:
                    continue
                count += len(points)
                out += varint(len(points))
                x = y = 0
                for px, py in points:
                    out += zigzag(px - x) + zigzag(py - y)
                    x, y = px, py
        path = pathlib.Path(__file__).with_name(f"coastlines-{level}.bin")
        path.write_bytes(out)
        print(f"{path.name}: {count} points, {len(out)} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
