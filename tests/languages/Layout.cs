// Where C# takes the fields of structures to be: one line each, as the program that layout.awk makes.
using System;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;

public static class Layout
{
    public static void Main()
    {
        foreach (var type in typeof(Testudo.World).Assembly.GetTypes().Where(type => type.IsValueType && !type.IsEnum && type.Namespace == "Testudo"))
        {
            // Names that would be others' in C#.
            string name = type.Name == "GameTable" ? "Game" : type.Name == "RandomState" ? "Random" : type.Name == "Placed" ? "Position" : type.Name;
            foreach (var field in type.GetFields(BindingFlags.Instance | BindingFlags.Public))
                Console.WriteLine($"{name}.{Regex.Replace(field.Name, "(?<!^)([A-Z])", "_$1").ToLowerInvariant()} {Marshal.OffsetOf(type, field.Name)}");
            Console.WriteLine($"{name} {Marshal.SizeOf(type)}");
        }
    }
}
