// The structures of testudo.h as C# sees them. Units and ranges are there.
using System;
using System.Runtime.InteropServices;

namespace Testudo
{
    /// <summary>A vector; 16 fraction bits.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Vec2
    {
        public long X, Y;
        public Vec2(long x, long y) { X = x; Y = y; }
    }

    [StructLayout(LayoutKind.Sequential)] public struct Box { public Vec2 Min, Max; }
    [StructLayout(LayoutKind.Sequential)] public struct Segment { public Vec2 From, To; }
    [StructLayout(LayoutKind.Sequential)] public struct RandomState { public ulong State, Stream; }
    [StructLayout(LayoutKind.Sequential)] public struct Material { public long Restitution, Friction, GroundFriction, Damping; }
    [StructLayout(LayoutKind.Sequential)] public struct Filter { public uint Layers, Mask; }
    [StructLayout(LayoutKind.Sequential)] public struct Placed { public ulong Body; public Vec2 Position; }
    [StructLayout(LayoutKind.Sequential)] public struct Drawn { public ulong Body; public float X, Y; }
    [StructLayout(LayoutKind.Sequential)] public struct Pair { public ulong A, B; }
    [StructLayout(LayoutKind.Sequential)] public struct ContactEvent { public ulong A, B, UserA, UserB; }
    [StructLayout(LayoutKind.Sequential)] public struct ContactHit { public ulong A, B; public Vec2 Point, Normal; public long ApproachSpeed; }
    [StructLayout(LayoutKind.Sequential)] public struct Contact { public ulong A, B; public long Impulse; }
    [StructLayout(LayoutKind.Sequential)] public struct Near { public ulong Body; public long Distance; }
    [StructLayout(LayoutKind.Sequential)] public struct RayHit { public ulong Body; public Vec2 Point, Normal; public long Distance, Fraction; }
    [StructLayout(LayoutKind.Sequential)] public struct SweepHit { public ulong Body; public Vec2 Position, Point, Normal; public long Distance, Fraction; }

    /// <summary>A circle or a rectangle: <see cref="Circle"/>, <see cref="Rect"/>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Shape
    {
        public long Radius;
        public Vec2 HalfExtents;
        public uint Kind;
        public static Shape Circle(long radius) => new Shape { Kind = 0, Radius = radius };
        public static Shape Rect(long halfWidth, long halfHeight) => new Shape { Kind = 1, HalfExtents = new Vec2(halfWidth, halfHeight) };
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct WorldDef
    {
        public Vec2 Gravity;
        public Box Bounds;
        public long PushFactor, Margin, RestitutionThreshold, MaxSpeed, SleepSpeed;
        public ulong Seed;
        public uint Edge, Iterations, RelaxIterations, SleepMs, QuadtreeLeafCapacity, QuadtreeDepthMax, Simd;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct BodyDef
    {
        public Shape Shape;
        public Vec2 Position, Velocity;
        public long Mass, MaxSpeed;
        public Material Material;
        public Filter Filter;
        public ulong User;
        public uint Kind;
        public sbyte Dominance;
        public byte Sensor, Enabled, CanSleep, LockX, LockY;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct BodyState
    {
        public Shape Shape;
        public Vec2 Position, Velocity;
        public long Mass, MaxSpeed;
        public Material Material;
        public Filter Filter;
        public ulong User;
        public Box BoxAround;
        public uint Kind;
        public sbyte Dominance;
        public byte Sensor, Enabled, CanSleep, LockX, LockY, Awake, Terrain;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct TerrainDef
    {
        public long Restitution, Friction, Radius;
        public Filter Filter;
        public ulong User;
        public byte Enabled, Closed, OneSided;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct QueryFilter
    {
        public ulong Exclude;
        public Filter Filter;
        public byte HasFilter, Solids, Sensors, Statics, Kinematics, Dynamics, BothSides;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct CrowdDef
    {
        public Box Area;
        public long Cell;
        /// <summary>Radii, ascending; the first SizeCount count.</summary>
        [MarshalAs(UnmanagedType.ByValArray, SizeConst = 4)] public long[] Sizes;
        public uint SizeCount, FieldsMax, CellsPerFrame, WholeUpTo;
        public QueryFilter Obstacles;
        public byte SlowGround;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct MoveOrder
    {
        public Vec2 Goal;
        /// <summary>0: a disc, 1: rows.</summary>
        public uint Formation;
        public uint Files, Facing;
        public byte Together;
    }

    [StructLayout(LayoutKind.Sequential)] public struct UnitState { public Vec2 Post; public ulong Prey; public byte Going, Waiting; }
    [StructLayout(LayoutKind.Sequential)] public struct MoveEvent { public ulong Unit; public uint Kind; }
    [StructLayout(LayoutKind.Sequential)] public struct Corner { public Vec2 At; public long Left; }
    [StructLayout(LayoutKind.Sequential)] public struct GroundCell { public Box Cell; public uint Cost; }
    [StructLayout(LayoutKind.Sequential)] public struct FlowArrow { public Vec2 From, To; public long Left; }
    [StructLayout(LayoutKind.Sequential)] public struct UnitWay { public ulong Unit; public Vec2 Post, Aim; public byte HasAim; }

    /// <summary>The functions of the game, as the library takes them.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct GameTable
    {
        public IntPtr Context;
        public uint ActionBits;
        public IntPtr ActionLength, Apply, Step, Checksum, TurnStarted, TurnEnded, PlayerGone, PlayerSurrendered, PlayerTakenOver, PlayerReturned, PlayFor,
            Save, Load, SavePoint, Result, IsOver, Visit;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct Sides
    {
        public uint Players, HostPlayer;
        [MarshalAs(UnmanagedType.ByValArray, SizeConst = 16)] public byte[] Teams;
        public byte BotsTakeOver, RotatePlayers;
    }

    [StructLayout(LayoutKind.Sequential)] public struct Turns { public uint FramesPerSecond, FramesPerTurn, TurnsAhead, Count, Pace, ActionsMax, BytesMax, ChecksumInterval; }
    [StructLayout(LayoutKind.Sequential)] public struct Controls { public uint Who, PausesMax, PauseMaxMs, SpeedChangesMax; }
    [StructLayout(LayoutKind.Sequential)] public struct Arrivals { public uint WatchersMax, LateWatchers, LateJoinsMs, WatchDelayMs, WatchersMin, StateBytesMax, StateRate, JoinTimeoutMs; }
    [StructLayout(LayoutKind.Sequential)] public struct Waits { public uint DropAfterMs, ConnectTimeoutMs, LobbyTimeoutMs, SilenceTimeoutMs, WaitingNoticeMs, LingerMs; }

    [StructLayout(LayoutKind.Sequential)]
    public struct Own
    {
        [MarshalAs(UnmanagedType.ByValArray, SizeConst = 16)] public byte[] Entropy;
        [MarshalAs(UnmanagedType.ByValArray, SizeConst = 16)] public byte[] PlaceSecret;
        public IntPtr Saved;
        public UIntPtr SavedLength;
        public uint QueueMax, CatchUpFrames, PlayoutMs;
        public byte Records;
    }

    /// <summary>Settings of a match: <see cref="Default"/> fills them in.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Config
    {
        public ulong SessionId, ContentHash;
        public IntPtr GameData;
        public uint GameLength, RulesVersion, EngineVersion, Topology;
        public Sides Sides;
        public Turns Turns;
        public Controls Controls;
        public Arrivals Arrivals;
        public Waits Waits;
        public Own Own;

        public static Config Default(uint players)
        {
            Numbers.CheckInterface();
            TestudoException.Check(Native.testudo_config_default(players, out var config));
            return config;
        }
    }

    [StructLayout(LayoutKind.Sequential)] public struct Advance { public uint Frames, Turns; public byte Stalled; }

    public enum EventKind : uint
    {
        Lost = 1, Connected, Refused, Forged, Profile, Undelivered, Started, WaitingFor, CutOff, WaitingOver, OftenLate, TooFarAhead, Vote, Speed, Desync,
        ChecksumMissing, PlayerGone, TakenOver, TeamOut, Result, Paused, SavePoint, Saved, Plan, Cancelled, WatcherGone, StateProgress, StateRefused,
        WrongState, Joined, CaughtUp, PlayerReturned, JoinFailed, Finished, Failed, Difference, Other = 255,
    }

    /// <summary>Values of Difference have a sign: (long)Values[0].</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Event
    {
        public EventKind Kind;
        public uint Turn, Peer, Player, Other, Players;
        public ulong Number;
        [MarshalAs(UnmanagedType.ByValArray, SizeConst = 16)] public ulong[] Values;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct MatchStats
    {
        public ulong PacketsSent, BytesSent, PacketsReceived, BytesReceived, PacketsMalformed, PacketsUnexpected, EntriesReceived, EntriesRepeated,
            EntriesInvalid, StalledFrames, TurnsBegun, Drops, EventsLost;
    }

    [StructLayout(LayoutKind.Sequential)] public struct ReplayInfo { public ulong ContentHash; public uint Players, Turns, FirstTurn, DesyncTurn; public byte Complete, Damaged; }
    [StructLayout(LayoutKind.Sequential)] public struct Verification { public uint Turns, FirstDifference; public byte Sound; }
}
